import { byId, find } from '../dom.js';
import { hostOf } from '../format.js';
import { ProblemPanel } from '../problem-panel.js';
import { ensureSuccess, isAbort, problemOf } from '../problem.js';
import { DownloadRows } from './download-rows.js';
import { Summary } from './summary.js';

/** From the address of a page to its downloads. */
export class VideoTool {
  #input = byId('video-url');
  #submit = byId('video-submit');
  #stage = byId('video-stage');
  #status = byId('video-status');
  #problems = new ProblemPanel(this.#stage);
  #summary = new Summary();
  #downloads = new DownloadRows({
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
      const text = event.clipboardData?.getData('text/plain').trim() ?? '';
      if (!replacesAll || !/^https?:\/\/\S+$/i.test(text)) return;
      event.preventDefault();
      this.open(text);
    });
    this.#input.addEventListener('input', () => this.#input.removeAttribute('aria-invalid'));
  }

  /** Looks an address up as if it had been typed and sent. */
  open(address) {
    this.#input.value = address;
    this.#input.focus({ preventScroll: false });
    this.#request?.abort();
    void this.#lookUp();
  }

  async #lookUp() {
    const address = withScheme(this.#input.value.trim());
    this.#problems.clear();
    if (address === '') {
      this.#input.setAttribute('aria-invalid', 'true');
      this.#tell('Paste the address of a video’s page first.');
      this.#input.focus();
      return;
    }
    this.#input.removeAttribute('aria-invalid');
    const request = new AbortController();
    this.#request = request;
    this.#summary.clear(hostOf(address) || address, 'This takes a few seconds at most sites.');
    this.#downloads.clear();
    this.#setState('working');
    this.#tell('');
    try {
      const query = new URLSearchParams({ url: address });
      const response = await ensureSuccess(await fetch(`/api/info?${query}`, { signal: request.signal }));
      const info = await response.json();
      if (this.#request !== request) return;
      this.#show(info);
    } catch (error) {
      if (this.#request !== request || isAbort(error)) return;
      this.#finish('idle');
      this.#summary.clear();
      const problem = problemOf(error);
      if (problem.code === 'invalid_url') this.#input.setAttribute('aria-invalid', 'true');
      this.#problems.show(problem, { retry: () => void this.#lookUp(), onClose: () => this.#input.focus() });
    }
  }

  #show(info) {
    this.#finish('ready');
    this.#summary.show(info);
    this.#downloads.show(info);
    const count = info.downloads.length;
    this.#tell(count === 0 ? 'Nothing on this page can be downloaded.' : 'Ready: choose a download.');
  }

  #cancel() {
    this.#request.abort();
    this.#finish('idle');
    this.#summary.clear();
    this.#tell('Cancelled.');
  }

  #finish(state) {
    this.#request = undefined;
    this.#setState(state);
  }

  #setState(state) {
    const working = state === 'working';
    this.#stage.dataset.state = state;
    find(this.#stage, '.stage-work').hidden = !working;
    find(this.#submit, '.when-idle').hidden = working;
    find(this.#submit, '.when-busy').hidden = !working;
    this.#submit.classList.toggle('primary', !working);
  }

  #tell(text) {
    this.#status.textContent = text;
  }
}

/** `example.com/video` as people type it. */
function withScheme(text) {
  return /^[\w-]+(\.[\w-]+)+([/?#]|$)/.test(text) ? `https://${text}` : text;
}
