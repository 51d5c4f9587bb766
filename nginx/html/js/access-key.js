import { make } from './dom.js';
import { text } from './texts.js';

const storageName = 'access-key';
/** Long enough for a download to start. */
const cookieSeconds = 60;
let keyOfThisPage = '';

/** The user's access key; empty if the user has none. */
export function accessKey() {
  try {
    return localStorage.getItem(storageName) ?? keyOfThisPage;
  } catch {
    return keyOfThisPage; // no storage: the key lasts as long as the page
  }
}

/** Stores the key in this browser; an empty key deletes it. */
function keepAccessKey(key) {
  keyOfThisPage = key;
  try {
    if (key === '') localStorage.removeItem(storageName);
    else localStorage.setItem(storageName, key);
  } catch {
    // See above.
  }
  dispatchEvent(new Event('accesskeychange'));
}

/** The request headers with the key, if there is one. */
export function withAccessKey(headers = {}) {
  const key = accessKey();
  return key === '' ? headers : { ...headers, Authorization: `Bearer ${key}` };
}

/**
 * Sets the key as a cookie for this path for a minute, so that the browser's own download sends
 * it: a link can't have headers, and a key must not be in a URL.
 */
export function setAccessKeyCookie(href) {
  const key = accessKey();
  if (key === '') return;
  const { pathname, protocol } = new URL(href, location.href);
  const secure = protocol === 'https:' ? '; Secure' : '';
  document.cookie = `access-key=${encodeURIComponent(key)}; Path=${pathname}; Max-Age=${cookieSeconds}; SameSite=Strict${secure}`;
}

let count = 0;

/** A field for the access key. `onKey` is called when the key is stored. */
export function accessKeyForm(onKey) {
  const id = `access-key-${++count}`;
  const field = make('input', {
    id,
    type: 'password',
    required: true,
    // A header can't have others; they come from a careless copy.
    pattern: '\\s*[!-~]+\\s*',
    autocomplete: 'off',
    spellcheck: false,
  });
  const form = make(
    'form',
    { className: 'key-form' },
    make('label', { htmlFor: id }, text(accessKey() === '' ? 'key.label' : 'key.other')),
    field,
    make('button', { type: 'submit', className: 'button primary' }, text('key.use')),
    make('small', {}, text('key.help')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = field.value.trim();
    if (key === '') return;
    keepAccessKey(key);
    onKey();
  });
  return form;
}

/** Shows in `line` whether a key is stored in this browser; its button deletes it. */
export function showKeptKey(line) {
  const show = () => (line.hidden = accessKey() === '');
  line.querySelector('button').addEventListener('click', () => keepAccessKey(''));
  addEventListener('accesskeychange', show);
  show();
}
