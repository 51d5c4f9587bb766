/** The page's element with this id. @throws Error if it is missing, which is a bug */
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

/** A copy of the single element in a template. */
export function fromTemplate(id) {
  return byId(id).content.cloneNode(true).firstElementChild;
}

/** Sets a text whose file names may break after `_` and before the extension. */
export function setBreakable(element, text) {
  const [first, ...rest] = text.split(/(?<=_)|(?=\.\p{L})/u);
  element.replaceChildren(first, ...rest.flatMap((part) => [make('wbr'), part]));
}

/** Scrolls to an element, unless the user is busy with the other tool. */
export function bringIntoView(element) {
  const inUse = document.querySelector('.tool:focus-within');
  if (!inUse || inUse.contains(element)) element.scrollIntoView({ block: 'nearest' });
}

/** A new element with its properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Makes the browser download a URL, named by the server or `fileName`. */
export function startDownload(href, fileName = '') {
  const link = make('a', { href, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Saves a blob as a download. */
export function saveBlob(blob, fileName) {
  const url = URL.createObjectURL(blob);
  startDownload(url, fileName);
  // The browser reads the blob after the click; a minute is enough for it to start.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Resolves after a time, or rejects with the reason when `signal` aborts. */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
