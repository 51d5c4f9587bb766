import {
  accessKey,
  accessKeyForm,
  setAccessKeyCookie,
  settleAccessKey,
  showKeptKey,
  withAccessKey,
} from '../access-key.js';
import { byId, find, findAll, make, startDownload } from '../dom.js';
import { isAbort } from '../problem.js';

/** A form in the API reference: sends its request and shows the response below it. */
class TryIt {
  #form;
  #button;
  #outcome;
  /** @type {AbortController | undefined} */
  #request;
  /** @type {string | undefined} */
  #picture;

  constructor(/** @type {HTMLFormElement} */ form) {
    this.#form = form;
    this.#button = find(form, 'button[type="submit"]');
    this.#outcome = find(form, '.outcome');
    form.addEventListener('input', () => showCurlLine(form));
    addEventListener('accesskeychange', () => showCurlLine(form));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#request) this.#request.abort();
      else void this.#send();
    });
    showCurlLine(form);
  }

  async #send() {
    this.#request = new AbortController();
    const { signal } = this.#request;
    this.#button.textContent = 'Cancel';
    this.#show(make('p', {}, 'Waiting for the response…'));
    try {
      const { url, options } = this.#compose();
      const startedAt = performance.now();
      const response = await fetch(url, { ...options, signal, cache: 'no-store' });
      const seconds = (performance.now() - startedAt) / 1000;
      await this.#showAnswer(response, seconds);
    } catch (error) {
      this.#show(make('p', {}, isAbort(error) ? 'Cancelled.' : 'No response: the connection failed.'));
    } finally {
      // Stop reading what is left of the media.
      this.#request?.abort();
      this.#request = undefined;
      this.#button.textContent = 'Send';
    }
  }

  #compose() {
    const form = this.#form;
    const fields = findAll(form, '[data-header]').map((field) => [
      field.dataset.header ?? '',
      valueOf(field),
    ]);
    const headers = withAccessKey(Object.fromEntries(fields.filter(([, value]) => value !== '')));
    const data = new FormData(form);
    for (const [name, value] of [...data]) {
      if (typeof value === 'string' && value.trim() === '') data.delete(name);
    }
    if (form.method === 'post') return { url: form.action, options: { method: 'POST', headers, body: data } };
    const query = new URLSearchParams([...data].map(([name, value]) => [name, String(value)])).toString();
    return { url: query === '' ? form.action : `${form.action}?${query}`, options: { headers } };
  }

  async #showAnswer(/** @type {Response} */ response, /** @type {number} */ seconds) {
    const isRejected = response.status === 401;
    const hadKey = accessKey() !== '';
    settleAccessKey(!isRejected);
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    const head = make('p', {}, make('strong', {}, `${response.status}`), ` after ${seconds.toFixed(2)} s`);
    const body = await this.#body(response);
    this.#show(head, make('pre', {}, make('code', {}, lines.join('\n'))), ...body);
    if (isRejected) this.#askForKey(hadKey);
  }

  /** What can be shown of a body. Media is offered as a file instead. */
  async #body(/** @type {Response} */ response) {
    const type = response.headers.get('Content-Type') ?? '';
    if (type.includes('json')) {
      return [make('pre', {}, make('code', {}, JSON.stringify(await response.json(), null, 2)))];
    }
    if (type.startsWith('image/')) {
      this.#picture = URL.createObjectURL(await response.blob());
      return [make('img', { src: this.#picture, alt: 'The image in the response' })];
    }
    if (!/^(audio|video)\//.test(type)) return [make('pre', {}, await response.text())];
    const save = make('button', { type: 'button', className: 'button' }, 'Save the file');
    save.addEventListener('click', () => {
      setAccessKeyCookie(response.url);
      startDownload(response.url);
    });
    return [make('p', {}, 'The media begins here; it was not read further. ', save)];
  }

  #askForKey(/** @type {boolean} */ hadKey) {
    const form = accessKeyForm(hadKey, () => void this.#send().then(() => form.remove()));
    // After the form, since one form can't contain another.
    this.#form.after(form);
    find(form, 'input').focus();
  }

  #show(/** @type {Node[]} */ ...parts) {
    if (this.#picture) URL.revokeObjectURL(this.#picture);
    this.#picture = undefined;
    this.#outcome.replaceChildren(...parts);
  }
}

/** Updates the curl command from its form; see the docs generator's try-it.ts. */
function showCurlLine(/** @type {HTMLFormElement} */ form) {
  for (const part of findAll(find(form, '.curl'), '[data-when]')) {
    const name = part.dataset.when ?? '';
    const text = name === 'key' ? accessKey() : valueOf(fieldNamed(form, name));
    const place = part.querySelector('[data-field]');
    const isNeeded = name !== 'key' && fieldNamed(form, name).matches(':required');
    part.hidden = text === '' && !isNeeded;
    // Single quotes protect everything from the shell except single quotes.
    if (place && text !== '') place.textContent = text.replaceAll("'", "'\\''");
  }
}

/** The form field of a parameter, in any part of the request. */
function fieldNamed(/** @type {HTMLFormElement} */ form, /** @type {string} */ name) {
  return find(form, `[name="${name}"], [data-header="${name}"]`);
}

function valueOf(/** @type {HTMLElement} */ field) {
  if (field instanceof HTMLInputElement && field.type === 'file') return field.files?.[0]?.name ?? '';
  return 'value' in field ? String(field.value).trim() : '';
}

/** The gateway's URL without a trailing slash; includes the base path, if any. */
const base = new URL('..', location.href).href.replace(/\/$/, '');
for (const place of document.querySelectorAll('[data-origin]')) place.textContent = base;
for (const form of document.querySelectorAll('form')) if (form.matches('.try')) new TryIt(form);
showKeptKey(byId('kept-key'));

/** Expands the endpoint that a link points to. */
function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener('hashchange', unfoldTarget);
unfoldTarget();
