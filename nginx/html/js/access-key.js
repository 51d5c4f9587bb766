const storageName = 'access-key';
/** Long enough for a download to begin. */
const lentSeconds = 60;
let keyOfThisPage = '';

/** The key that this reader has for a server whose operator has handed out some; empty where none is known. */
export function accessKey() {
  try {
    return localStorage.getItem(storageName) ?? keyOfThisPage;
  } catch {
    return keyOfThisPage; // no storage: it lasts as long as the page
  }
}

/** Keeps the key in this browser; an empty one is forgotten. */
export function keepAccessKey(key) {
  keyOfThisPage = key;
  try {
    if (key === '') localStorage.removeItem(storageName);
    else localStorage.setItem(storageName, key);
  } catch {
    // See above.
  }
  dispatchEvent(new Event('accesskeychange'));
}

/** The request headers with the key, where there is one. */
export function withAccessKey(headers = {}) {
  const key = accessKey();
  return key === '' ? headers : { ...headers, Authorization: `Bearer ${key}` };
}

/**
 * Lets the browser's own download of a URL send the key, as a cookie of this path for
 * a minute: a link can have no headers, and a key has no place in a URL.
 */
export function lendAccessKey(href) {
  const key = accessKey();
  if (key === '') return;
  const { pathname, protocol } = new URL(href, location.href);
  const secure = protocol === 'https:' ? '; Secure' : '';
  document.cookie = `access-key=${encodeURIComponent(key)}; Path=${pathname}; Max-Age=${lentSeconds}; SameSite=Strict${secure}`;
}
