/** The texts of the page in its language; choose-language.js has set that before. */
const root = document.documentElement;
const texts = await load(root.lang.split('-')[0]);
const isRightToLeft = root.dir === 'rtl';

/** How numbers and dates are written: as in the reader's country, where the browser names it. */
export const locale = regionOf(root.lang) + (isRightToLeft ? '-u-nu-latn' : '');
const numbers = new Intl.NumberFormat(locale, { useGrouping: false, maximumFractionDigits: 1 });
const plurals = new Intl.PluralRules(locale);

async function load(language) {
  try {
    return (await import(`./languages/${language}.js`)).default;
  } catch (error) {
    if (language === 'en') throw error;
    Object.assign(root, { lang: 'en', dir: 'ltr' });
    return load('en');
  }
}

function regionOf(language) {
  const [base] = language.split('-');
  return navigator.languages.find((tag) => tag.split('-')[0] === base) ?? language;
}

/**
 * A text of the page. `{name}` stands for a value: numbers are written as the language
 * does, and `n` decides between singular and plural.
 */
export function text(key, values = {}) {
  const entry = texts[key];
  if (entry === undefined) throw new Error(`The page has no text ${key}.`);
  return filled(typeof entry === 'string' ? entry : (entry[plurals.select(values.n)] ?? entry.other), values);
}

/** The title and detail for an error code, or for a problem that the page finds itself; undefined if unknown. */
export function errorText(code, values = {}) {
  const entry = texts[`error.${code}`];
  return entry && { title: filled(entry[0], values), detail: filled(entry[1], values) };
}

function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === 'number' ? numbers.format(value) : isolated(String(value));
  });
}

/** Keeps the order of a name or size inside a text that runs from right to left. */
export function isolated(value, start = '\u2068') {
  return isRightToLeft ? `${start}${value}\u2069` : value;
}

/** Facts about one thing, in a line. */
export function joined(facts) {
  return facts
    .filter(Boolean)
    .map((fact) => isolated(fact))
    .join(' · ');
}

/**
 * Puts the texts into the page, in templates too: `data-text` names the text of an element,
 * whose part between bars belongs to its only child; `data-label`, `data-hint`,
 * `data-alternative` and `data-content` name attributes.
 */
export function translate(parent) {
  const attributes = { label: 'aria-label', hint: 'title', alternative: 'alt', content: 'content' };
  for (const element of parent.querySelectorAll('[data-text]')) setText(element, text(element.dataset.text));
  for (const [name, attribute] of Object.entries(attributes)) {
    for (const element of parent.querySelectorAll(`[data-${name}]`)) {
      element.setAttribute(attribute, text(element.dataset[name]));
    }
  }
  for (const { content } of parent.querySelectorAll('template')) translate(content);
}

function setText(element, value) {
  const [before, part, after] = value.split('|');
  const [child] = element.children;
  if (part === undefined) {
    element.textContent = value;
    return;
  }
  child.textContent = part;
  element.replaceChildren(before, child, after);
}
