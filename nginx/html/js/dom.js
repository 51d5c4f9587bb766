/** The element of the page with this id; its absence is a fault of the page itself. */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element #${id}.`);
  return element;
}

/** The first element inside `parent` that matches. */
export function find(parent, selector) {
  const element = parent.querySelector(selector);
  if (element === null) throw new Error(`The page has no ${selector}.`);
  return element;
}

/** A copy of the one element that a template holds. */
export function fromTemplate(id) {
  return byId(id).content.cloneNode(true).firstElementChild;
}

/** A new element with its properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Lets the browser save what is at a URL, under the name that the server or `fileName` gives. */
export function startDownload(href, fileName = '') {
  const link = make('a', { href, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Saves a blob under a name, as the browser saves downloads. */
export function saveBlob(blob, fileName) {
  const url = URL.createObjectURL(blob);
  startDownload(url, fileName);
  // The browser reads the blob after the click; a minute is ample for it to begin.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
