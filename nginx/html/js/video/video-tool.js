import { withAccessKey } from '../access-key.js';
import { byId, find } from '../dom.js';
import { ProblemPanel } from '../problem-panel.js';
import { ensureSuccess, isAbort, problemOf } from '../problem.js';
import { urlIn, isPublicHost } from './page-url.js';
import { Downloads } from './downloads.js';
import { Recent } from './recent.js';
import { Summary } from './summary.js';

/** From the link of a page to its downloads. */
export class VideoTool {
  #input = byId('video-url');
  #submit = byId('video-submit');
  #result = byId('video-result');
  #status = byId('video-status');
  #problems = new ProblemPanel(byId('video-problem'));
  #summary = new Summary();
  #recent = new Recent((url) => this.open(url));
  #downloads = new Downloads({
    onStatus: (text) => this.#tell(text),
    onFailure: (error, retry) => this.#problems.show(problemOf(error), { retry }),
  });
  #request;

  constructor() {
    byId('video-form').addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#request) this.#cancel();
      else void this.#lookUp();
    });
    this.#input.addEventListener('paste', (event) => {
      const field = this.#input;
      const replacesAll =
        field.value === '' || field.selectionEnd - field.selectionStart === field.value.length;
      const url = urlIn(event.clipboardData?.getData('text/plain') ?? '', { bare: true });
      if (!replacesAll || url === undefined) return;
      event.preventDefault();
      this.open(url);
    });
    const sample = new URL('samples/clip', document.baseURI);
    const canReachSample = isPublicHost(sample.hostname);
    byId('video-sample-line').hidden = !canReachSample;
    byId('video-no-sample').hidden = canReachSample;
    byId('video-sample').addEventListener('click', () => this.open(sample.href));
    this.#input.addEventListener('input', () => this.#input.removeAttribute('aria-invalid'));
  }

  /** Looks a URL up as if it had been typed and sent. */
  open(url) {
    this.#input.value = url;
    byId('video').scrollIntoView({ block: 'nearest' });
    this.#request?.abort();
    void this.#lookUp();
  }

  async #lookUp() {
    const text = this.#input.value.trim();
    // What holds no URL goes to the server as it is: its answer says why not.
    const url = urlIn(text, { bare: true }) ?? text;
    this.#problems.clear();
    if (url === '') {
      this.#input.setAttribute('aria-invalid', 'true');
      this.#tell('Paste the link of a video’s page first.');
      this.#input.focus();
      return;
    }
    this.#input.value = url;
    this.#input.removeAttribute('aria-invalid');
    const request = new AbortController();
    this.#request = request;
    this.#summary.showWaiting(url);
    this.#downloads.clear();
    this.#recent.fold();
    this.#setState('working');
    this.#tell('Looking at the page…');
    try {
      const query = new URLSearchParams({ url });
      const options = { headers: withAccessKey(), signal: request.signal };
      const response = await ensureSuccess(await fetch(`api/info?${query}`, options));
      const info = await response.json();
      if (this.#request !== request) return;
      this.#show(info, url);
    } catch (error) {
      if (this.#request !== request || isAbort(error)) return;
      this.#finish('idle');
      this.#summary.hide();
      this.#tell('');
      const problem = problemOf(error);
      if (problem.code === 'invalid_url') this.#input.setAttribute('aria-invalid', 'true');
      this.#problems.show(problem, { retry: () => void this.#lookUp(), onClose: () => this.#input.focus() });
    }
  }

  #show(info, url) {
    this.#finish('ready');
    this.#summary.show(info);
    const count = this.#downloads.show(info);
    this.#tell(count === 0 ? 'Nothing on this page can be downloaded.' : 'Ready: choose a download.');
    this.#recent.add(url, info.title);
    // So that the URL of this page is a link to the result, and reloading keeps it.
    history.replaceState(null, '', `?${new URLSearchParams({ url })}`);
    // The next key is Enter, unless the reader has gone elsewhere meanwhile.
    const active = document.activeElement;
    if (active === document.body || this.#input.form.contains(active)) this.#downloads.focusFirst();
  }

  #cancel() {
    this.#request.abort();
    this.#finish('idle');
    this.#summary.hide();
    this.#tell('Cancelled.');
    this.#input.focus();
  }

  #finish(state) {
    this.#request = undefined;
    this.#setState(state);
  }

  #setState(state) {
    const working = state === 'working';
    this.#result.dataset.state = state;
    find(this.#submit, '.when-idle').hidden = working;
    find(this.#submit, '.when-busy').hidden = !working;
    this.#submit.classList.toggle('primary', state === 'idle');
  }

  #tell(text) {
    this.#status.textContent = text;
  }
}
