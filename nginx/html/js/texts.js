/** @typedef {Record<string, string | number>} Values */
/** @typedef {string | string[] | Record<string, string>} Entry a text, `[title, detail]`, or plural forms */

const root = document.documentElement;
/** In milliseconds; without texts nothing works, so the last delay repeats. */
const retryDelays = [500, 2000, 5000];
/** @type {Record<string, string>} */
const attributes = {
  ...{ label: 'aria-label', hint: 'title', alternative: 'alt' },
  ...{ placeholder: 'placeholder', content: 'content' },
};
const texts = await loadTexts(root.lang.split('-')[0] ?? 'en');
const isRightToLeft = root.dir === 'rtl';

/** The locale for numbers and dates: the user's region, if the browser reports it. */
export const locale = regionOf(root.lang) + (isRightToLeft ? '-u-nu-latn' : '');
const numbers = new Intl.NumberFormat(locale, { useGrouping: false, maximumFractionDigits: 1 });
const plurals = new Intl.PluralRules(locale);

/**
 * The texts in the page's language, which choose-language.js has set. Missing ones are in English.
 * Shows the page once it is translated, before the English ones and the many other modules have arrived.
 */
async function loadTexts(/** @type {string} */ language) {
  const english = tableOf('en');
  const translated = language === 'en' ? {} : await tableOf(language, 1).catch(() => undefined);
  if (translated === undefined) Object.assign(root, { lang: 'en', dir: 'ltr' });
  translate(document, translated ?? {});
  offerLanguages();
  root.classList.remove('is-translating');
  if (language !== 'en') await painted();
  return { ...(await english), ...translated };
}

/** Resolves once the page is painted; the rest of its code keeps a slow phone busy. Hidden pages are never painted. */
async function painted() {
  const frame = new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  await Promise.race([frame, new Promise((resolve) => setTimeout(resolve, 100))]);
}

/** @returns {Promise<Record<string, Entry>>} */
async function tableOf(/** @type {string} */ language, tries = Infinity) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await (await fetch(new URL(`../texts/${language}.json`, import.meta.url))).json();
    } catch (error) {
      if (attempt + 1 >= tries) throw error;
      const delay = retryDelays[Math.min(attempt, retryDelays.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

function regionOf(/** @type {string} */ language) {
  const [base] = language.split('-');
  return navigator.languages.find((tag) => tag.split('-')[0] === base) ?? language;
}

/**
 * A text of the page. `{name}` is replaced by a value. Numbers are formatted for the locale,
 * and `n` selects singular or plural.
 * @param {string} key @param {Values} [values]
 */
export function text(key, values = {}) {
  const entry = texts[key];
  if (entry === undefined) throw new Error(`The page has no text ${key}.`);
  if (typeof entry === 'string') return filled(entry, values);
  if (Array.isArray(entry)) throw new Error(`${key} is the text of an error.`);
  return filled(entry[plurals.select(Number(values.n))] ?? entry.other, values);
}

/**
 * The title and detail for an error code, or for a problem detected by the page.
 * @param {string} code @param {Values} [values]
 */
export function errorText(code, values = {}) {
  const entry = texts[`error.${code}`];
  if (!Array.isArray(entry)) return undefined;
  return { title: filled(entry[0], values), detail: filled(entry[1], values) };
}

/** The same for one that the page itself detects, whose text exists. */
export function errorTextOf(/** @type {string} */ code, /** @type {Values} */ values = {}) {
  const found = errorText(code, values);
  if (found === undefined) throw new Error(`The page has no text for ${code}.`);
  return found;
}

function filled(/** @type {string} */ template, /** @type {Values} */ values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === 'number' ? numbers.format(value) : isolated(String(value));
  });
}

/** Isolates a name or size, so that it keeps its order in right-to-left text. */
export function isolated(/** @type {string} */ value, start = '\u2068') {
  return isRightToLeft ? `${start}${value}\u2069` : value;
}

/** Joins facts in one line, without those that are missing. */
export function joined(/** @type {(string | number | false | null | undefined)[]} */ facts) {
  return facts
    .filter((fact) => typeof fact === 'string' && fact !== '')
    .map((fact) => isolated(String(fact)))
    .join('\u00a0· ');
}

/**
 * Inserts the texts into the page, including templates: `data-text` names an element's text,
 * whose part between bars goes into its only child; `data-label`, `data-hint`,
 * `data-alternative`, `data-placeholder` and `data-content` name attributes. What `table` lacks
 * stays as index.html has it, in English.
 * @param {ParentNode} parent @param {Record<string, Entry>} table
 */
function translate(parent, table) {
  const textOf = (/** @type {Element} */ element, /** @type {string} */ name) => {
    const entry = table[element.getAttribute(`data-${name}`) ?? ''];
    return typeof entry === 'string' ? entry : undefined;
  };
  for (const element of parent.querySelectorAll('[data-text]')) {
    const value = textOf(element, 'text');
    if (value !== undefined) setText(element, value);
  }
  for (const [name, attribute] of Object.entries(attributes)) {
    for (const element of parent.querySelectorAll(`[data-${name}]`)) {
      const value = textOf(element, name);
      if (value !== undefined) element.setAttribute(attribute, value);
    }
  }
  for (const { content } of parent.querySelectorAll('template')) translate(content, table);
}

function setText(/** @type {Element} */ element, /** @type {string} */ value) {
  const [before, part, after] = value.split('|');
  const [child] = element.children;
  if (part === undefined) {
    element.textContent = value;
    return;
  }
  child.textContent = part;
  element.replaceChildren(before, child, after);
}

/** Shows the page's language and lets the user choose another one. */
function offerLanguages() {
  const select = document.querySelector('#language');
  if (!(select instanceof HTMLSelectElement)) return; // on the API's pages
  select.value = root.lang.split('-')[0];
  select.addEventListener('change', () => {
    try {
      localStorage.setItem('language', select.value);
    } catch {
      // Without storage the choice can't be remembered.
    }
    location.reload();
  });
}
