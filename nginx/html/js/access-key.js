import { make, setText } from './dom.js';
import { text } from './texts.js';

const storageName = 'access-key';
/** Long enough for a download to start. */
const cookieSeconds = 60;
let keyOfThisPage = '';
/** Entered, but not yet accepted by the server. */
let keyOnTrial = '';

/** The user's access key; empty if the user has none. */
export function accessKey() {
  if (keyOnTrial !== '') return keyOnTrial;
  try {
    return localStorage.getItem(storageName) ?? keyOfThisPage;
  } catch {
    return keyOfThisPage; // no storage: the key lasts as long as the page
  }
}

/** The key that the user has just entered works, so it is kept; otherwise it is forgotten. */
export function settleAccessKey(/** @type {boolean} */ isAccepted) {
  if (keyOnTrial === '') return;
  const key = keyOnTrial;
  keyOnTrial = '';
  if (isAccepted) keepAccessKey(key);
}

/** Stores the key in this browser; an empty key deletes it. */
function keepAccessKey(/** @type {string} */ key) {
  keyOfThisPage = key;
  try {
    if (key === '') localStorage.removeItem(storageName);
    else localStorage.setItem(storageName, key);
  } catch {
    // See above.
  }
  dispatchEvent(new Event('accesskeychange'));
}

/** The request headers with the key, if there is one. @returns {Record<string, string>} */
export function withAccessKey(/** @type {Record<string, string>} */ headers = {}) {
  const key = accessKey();
  return key === '' ? headers : { ...headers, Authorization: `Bearer ${key}` };
}

/**
 * Sets the key as a cookie for this path for a minute, so that the browser's own download sends
 * it: a link can't have headers, and a key must not be in a URL.
 */
export function setAccessKeyCookie(/** @type {string} */ href) {
  const key = accessKey();
  if (key === '') return;
  const { pathname, protocol } = new URL(href, location.href);
  const secure = protocol === 'https:' ? '; Secure' : '';
  document.cookie = `access-key=${encodeURIComponent(key)}; Path=${pathname}; Max-Age=${cookieSeconds}; SameSite=Strict${secure}`;
}

let count = 0;

/**
 * A field for the access key.
 * @param {boolean} wasRejected whether the server has rejected the one just sent
 * @param {() => void} onKey called when a key was entered
 */
export function accessKeyForm(wasRejected, onKey) {
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
  const show = make(
    'button',
    { type: 'button', className: 'button', ariaPressed: 'false' },
    text('key.show'),
  );
  show.addEventListener('click', () => {
    const isShown = field.type === 'text';
    field.type = isShown ? 'password' : 'text';
    show.ariaPressed = String(!isShown);
    setText(show, text(isShown ? 'key.show' : 'key.hide'));
    field.focus();
  });
  if (wasRejected) field.setAttribute('aria-invalid', 'true');
  const form = make(
    'form',
    { className: 'key-form' },
    make('label', { htmlFor: id }, text('key.label')),
    make('div', {}, field, show),
    make('button', { type: 'submit', className: 'button main' }, text('key.use')),
    make('small', {}, text('key.help')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = field.value.trim();
    if (key === '') return;
    keyOnTrial = key;
    onKey();
  });
  return form;
}

/** Shows in `line` whether a key is stored in this browser; its button deletes it. */
export function showKeptKey(/** @type {HTMLElement} */ line) {
  const show = () => (line.hidden = accessKey() === '');
  line.querySelector('button')?.addEventListener('click', () => keepAccessKey(''));
  addEventListener('accesskeychange', show);
  show();
}
