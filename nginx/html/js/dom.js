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

/** A link can be switched off only by taking its address away. */
export function setLink(link, href) {
  if (href === undefined) {
    link.removeAttribute('href');
    link.setAttribute('aria-disabled', 'true');
  } else {
    link.href = href;
    link.removeAttribute('aria-disabled');
  }
}

/** Lets the browser save what is at an address, under the name that the server or `fileName` gives. */
export function startDownload(href, fileName = '') {
  const link = document.createElement('a');
  link.href = href;
  link.download = fileName;
  document.body.append(link);
  link.click();
  link.remove();
}
