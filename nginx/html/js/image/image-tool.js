import { byId, find, setLink } from '../dom.js';
import { formatBytes } from '../format.js';
import { ProblemPanel } from '../problem-panel.js';
import { isAbort, problemOf } from '../problem.js';
import { Comparison } from './comparison.js';
import { Quota } from './quota.js';
import { Tuning } from './tuning.js';
import { removeBackground } from './upload.js';

/** From an image to its cut-out. */
export class ImageTool {
  #stage = byId('image-stage');
  #work = find(this.#stage, '.stage-work');
  #workText = byId('image-work-text');
  #progress = byId('image-progress');
  #status = byId('image-status');
  #choose = byId('image-choose');
  #update = byId('image-update');
  #download = byId('image-download');
  #problems = new ProblemPanel(this.#stage);
  #comparison = new Comparison();
  #quota = new Quota();
  #tuning = new Tuning(() => this.#offerUpdate());
  #file;
  /** The parameters of the cut-out that is shown. */
  #shown;
  #request;

  constructor() {
    this.#update.addEventListener('click', () => void this.#cutOut());
    byId('image-cancel').addEventListener('click', () => this.#cancel());
    this.#download.addEventListener('click', (event) => {
      if (!this.#download.hasAttribute('href')) event.preventDefault();
    });
  }

  /** Takes a new image and cuts it out. */
  async open(file) {
    this.#request?.abort();
    this.#request = undefined;
    this.#problems.clear();
    this.#forgetResult();
    this.#stage.scrollIntoView({ block: 'nearest' });
    // Sending what cannot be an image would cost one of the images of this minute.
    if (file.type !== '' && !file.type.startsWith('image/')) {
      this.#file = undefined;
      this.#comparison.clear();
      this.#finish();
      this.#problems.show({
        title: 'This is not an image',
        detail: `“${file.name}” is another kind of file. Choose a JPEG, PNG or WebP image.`,
        type: '/docs/errors#unsupported-media-type',
      });
      return;
    }
    this.#file = file;
    await this.#comparison.showBefore(file);
    if (this.#file === file) await this.#cutOut();
  }

  async #cutOut() {
    const file = this.#file;
    const parameters = this.#tuning.values;
    const request = new AbortController();
    this.#request = request;
    this.#problems.clear();
    this.#begin();
    const startedAt = performance.now();
    try {
      const result = await removeBackground(file, parameters, {
        signal: request.signal,
        onProgress: (share) => this.#showProgress(share),
        onUploaded: () => this.#showWorking(),
        onHeaders: (header) => this.#quota.update(header),
      });
      await this.#show(result, parameters, performance.now() - startedAt);
    } catch (error) {
      if (this.#request !== request || isAbort(error)) return;
      this.#finish();
      this.#tell('');
      this.#problems.show(problemOf(error), { retry: () => void this.#cutOut() });
    }
  }

  async #show({ blob, width, height }, parameters, elapsedMs) {
    const address = await this.#comparison.showAfter(blob);
    this.#shown = parameters;
    setLink(this.#download, address);
    this.#download.download = `${this.#file.name.replace(/\.[^.]*$/, '') || 'image'}.png`;
    this.#finish();
    const facts = [`${width} × ${height}`, formatBytes(blob.size), `${(elapsedMs / 1000).toFixed(1)} s`];
    this.#tell(`Done: ${facts.join(' · ')}`);
  }

  #begin() {
    this.#stage.dataset.state = 'working';
    this.#work.hidden = false;
    this.#choose.disabled = true;
    this.#update.disabled = true;
    this.#tell('Uploading the image.');
    this.#showProgress(0);
  }

  #showProgress(share) {
    this.#workText.textContent = `Uploading… ${Math.round(share * 100)} %`;
    this.#progress.value = share * 100;
  }

  #showWorking() {
    this.#workText.textContent = 'Removing the background…';
    this.#progress.removeAttribute('value');
    this.#tell('Uploaded. Removing the background.');
  }

  #cancel() {
    this.#request?.abort();
    this.#finish();
    this.#tell('Cancelled.');
  }

  #finish() {
    this.#request = undefined;
    this.#work.hidden = true;
    this.#choose.disabled = false;
    const hasImage = this.#file !== undefined;
    this.#stage.dataset.state = this.#comparison.isDone ? 'ready' : hasImage ? 'chosen' : 'idle';
    this.#choose.textContent = hasImage ? 'New image' : 'Choose image';
    this.#offerUpdate();
  }

  /** A new cut-out makes sense where the one shown has other parameters, or there is none. */
  #offerUpdate() {
    if (this.#request !== undefined) return;
    const values = this.#tuning.values;
    const same = this.#shown && Object.keys(values).every((name) => values[name] === this.#shown[name]);
    this.#update.disabled = this.#file === undefined || Boolean(same);
    this.#update.textContent = this.#shown === undefined && this.#file ? 'Cut out' : 'Update';
    this.#update.classList.toggle('primary', !this.#update.disabled);
  }

  #forgetResult() {
    this.#shown = undefined;
    setLink(this.#download, undefined);
    this.#download.removeAttribute('download');
  }

  #tell(text) {
    this.#status.textContent = text;
  }
}
