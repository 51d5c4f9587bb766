/** @typedef {abstract new () => HTMLElement} ElementClass */

/**
 * The page's element with this id.
 * @template {ElementClass} [T=typeof HTMLElement]
 * @param {string} id @param {T} [type]
 * @returns {InstanceType<T>}
 * @throws Error if it is missing or of another type, which is a bug
 */
export function byId(id, type) {
  return checked(document.getElementById(id), `#${id}`, type);
}

/**
 * The first element inside `parent` that matches.
 * @template {ElementClass} [T=typeof HTMLElement]
 * @param {ParentNode} parent @param {string} selector @param {T} [type]
 * @returns {InstanceType<T>}
 */
export function find(parent, selector, type) {
  return checked(parent.querySelector(selector), selector, type);
}

/**
 * @template {ElementClass} T
 * @param {Element | null} element @param {string} name @param {T} [type]
 * @returns {InstanceType<T>}
 */
function checked(element, name, type) {
  if (!(element instanceof (type ?? HTMLElement))) throw new Error(`The page has no ${name}.`);
  return /** @type {InstanceType<T>} */ (element);
}

/** All elements inside `parent` that match. @returns {HTMLElement[]} */
export function findAll(/** @type {ParentNode} */ parent, /** @type {string} */ selector) {
  return [...parent.querySelectorAll(selector)].filter((element) => element instanceof HTMLElement);
}

/** A copy of the single element in a template. */
export function fromTemplate(/** @type {string} */ id) {
  const copy = byId(id, HTMLTemplateElement).content.cloneNode(true);
  return checked(/** @type {DocumentFragment} */ (copy).firstElementChild, id);
}

/** Sets a text only if it changes, so that screen readers and selections are not disturbed. */
export function setText(/** @type {HTMLElement} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets a text whose file names may break after `_` and before the extension. */
export function setBreakable(/** @type {HTMLElement} */ element, /** @type {string} */ text) {
  const [first = '', ...rest] = text.split(/(?<=_)|(?=\.\p{L})/u);
  element.replaceChildren(first, ...rest.flatMap((part) => [make('wbr'), part]));
}

/** One of the icons in index.html. */
export function icon(/** @type {string} */ name) {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(namespace, 'use');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Shows an icon in an element, `spin` for a spinner, or none. */
export function setIcon(/** @type {HTMLElement} */ element, /** @type {string | undefined} */ name) {
  if (element.dataset.icon === (name ?? '')) return;
  element.dataset.icon = name ?? '';
  if (name === undefined) element.replaceChildren();
  else element.replaceChildren(name === 'spin' ? make('span', { className: 'spinner' }) : icon(name));
}

/** Tells screen readers. */
export function announce(/** @type {string} */ words) {
  setText(byId('announcer'), words);
}

/** Whether the user is doing something elsewhere, so that the focus must stay. */
export function isBusyOutside(/** @type {HTMLElement} */ element) {
  const active = document.activeElement;
  return active !== null && active !== document.body && !element.contains(active);
}

/**
 * A new element with its properties and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Partial<HTMLElementTagNameMap[K]>} properties
 * @param {...(Node | string)} children
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

/** Makes the browser download a URL, named by the server or `fileName`. */
export function startDownload(/** @type {string} */ href, fileName = '') {
  const link = make('a', { href, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Saves a blob as a download. */
export function saveBlob(/** @type {Blob} */ blob, /** @type {string} */ fileName) {
  const url = URL.createObjectURL(blob);
  startDownload(url, fileName);
  // The browser reads the blob after the click; a minute is enough for it to start.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
