import { lendAccessKey, withAccessKey } from '../access-key.js';
import { find, fromTemplate, startDownload } from '../dom.js';
import { formatBytes, formatSeconds } from '../format.js';
import { ensureSuccess, isAbort } from '../problem.js';
import { describeDownload } from './describe-download.js';
import { BrokenOff, fileNameOf, sizeOf, Transfer } from './transfer.js';

const drawEveryMs = 200;

/**
 * One download: what it will be, its button, and how far it is. Where the browser
 * lets a page write into a file that the reader chooses, the page shows the progress
 * itself; elsewhere the browser downloads and shows it.
 */
export class DownloadRow {
  #handlers;
  #download;
  #name;
  #about;
  #start;
  #resume;
  #cancel;
  #progress;
  #request;
  #discard;

  /** @param isMain whether it is the one that most people want */
  constructor(download, formats, isMain, handlers) {
    this.#download = download;
    this.#handlers = handlers;
    this.element = fromTemplate('download-template');
    this.element.dataset.target = download.target;
    const { title, tag, about } = describeDownload(download, formats);
    this.#name = `${title} ${tag}`;
    this.#about = about;
    find(this.element, '.download-title').textContent = title;
    find(this.element, '.tag').textContent = tag;
    this.#start = find(this.element, '.download-start');
    this.#resume = find(this.element, '.download-resume');
    this.#cancel = find(this.element, '.download-cancel');
    this.#progress = find(this.element, '.download-progress');
    find(this.#start, '.visually-hidden').textContent = ` ${this.#name}`;
    find(this.#progress, 'progress').setAttribute('aria-label', `Progress of ${this.#name}`);
    this.#cancel.setAttribute('aria-label', `Cancel ${this.#name}`);
    this.#start.classList.toggle('primary', isMain);
    this.#start.href = download.href;
    this.#start.addEventListener('click', (event) => {
      event.preventDefault();
      void this.#run();
    });
    this.#cancel.addEventListener('click', () => {
      this.#request?.abort();
      this.#start.focus();
    });
    this.#show('idle');
  }

  get isTransferring() {
    return this.element.dataset.state === 'running';
  }

  focus() {
    this.#start.focus({ preventScroll: true });
  }

  dispose() {
    this.#request?.abort();
    if (this.element.dataset.state === 'broken') void this.#discard();
  }

  /** From the click to the saved file. A refusal is told before anything is saved. */
  async #run() {
    if (this.#request !== undefined) return;
    const request = new AbortController();
    this.#request = request;
    const { signal } = request;
    this.#show('preparing', 'Preparing…');
    this.#handlers.onStatus(`Preparing ${this.#name}…`);
    try {
      const { fileName, size } = await askFirst(this.#start.href, signal, this.#download);
      const handle = await chooseFile(fileName);
      if (handle === undefined) this.#leaveToBrowser(size);
      else await this.#saveInto(handle, signal);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#request = undefined;
    }
  }

  #fail(error) {
    this.#show('idle');
    this.#handlers.onStatus(isAbort(error) ? 'Cancelled.' : '');
    if (!isAbort(error)) this.#handlers.onFailure(error, () => void this.#run());
  }

  #leaveToBrowser(size) {
    lendAccessKey(this.#start.href);
    startDownload(this.#start.href);
    this.#show('started', `Started${sizeWords(size)}: your browser shows how far it is.`);
    this.#handlers.onStatus(`${this.#name} has started.`);
  }

  async #saveInto(handle, signal) {
    const file = await handle.createWritable();
    const transfer = new Transfer(this.#start.href, file);
    // What is half there helps nobody; where it cannot be taken away, nothing can be done about it.
    this.#discard = async () => {
      await file.abort().catch(() => undefined);
      await handle.remove?.().catch(() => undefined);
    };
    await this.#continue(transfer, handle.name, signal);
  }

  /** Runs a transfer until it is done, given up, or broken off and left to the reader. */
  async #continue(transfer, fileName, signal) {
    this.#handlers.onStatus(`Downloading ${this.#name}…`);
    this.#show('running', 'Downloading…');
    const timer = setInterval(() => this.#drawProgress(transfer), drawEveryMs);
    try {
      await transfer.run(signal);
    } catch (error) {
      if (!(error instanceof BrokenOff)) {
        await this.#discard();
        throw error;
      }
      this.#offerToGoOn(transfer, fileName);
      return;
    } finally {
      clearInterval(timer);
    }
    this.#show('done', `Saved as ${fileName} · ${formatBytes(transfer.receivedBytes)}`);
    this.#handlers.onStatus(`${this.#name} is saved.`);
  }

  #offerToGoOn(transfer, fileName) {
    const received = formatBytes(transfer.receivedBytes);
    this.#show('broken', `The connection broke off after ${received}.`);
    this.#handlers.onStatus(`${this.#name} broke off after ${received}.`);
    this.#resume.textContent = transfer.canResume ? 'Resume' : 'Start again';
    this.#resume.onclick = () => {
      const request = new AbortController();
      this.#request = request;
      this.#continue(transfer, fileName, request.signal)
        .catch((error) => this.#fail(error))
        .finally(() => (this.#request = undefined));
    };
  }

  #drawProgress(transfer) {
    const { receivedBytes, totalBytes, totalIsExact } = transfer;
    const speed = transfer.measureSpeed();
    const bar = find(this.#progress, 'progress');
    // An estimate may be passed; a bar that is full while bytes still come would be a lie.
    const share = totalBytes ? Math.min(receivedBytes / totalBytes, totalIsExact ? 1 : 0.99) : undefined;
    if (share === undefined) bar.removeAttribute('value');
    else bar.value = share;
    const left = speed && totalBytes > receivedBytes ? (totalBytes - receivedBytes) / speed : undefined;
    const facts = [
      totalBytes
        ? `${formatBytes(receivedBytes)} of ${totalIsExact ? '' : 'about '}${formatBytes(totalBytes)}`
        : formatBytes(receivedBytes),
      share !== undefined && `${Math.floor(share * 100)} %`,
      speed && `${formatBytes(speed)}/s`,
      left && `${formatSeconds(left)} left`,
    ];
    find(this.#progress, 'p').textContent = facts.filter(Boolean).join(' · ');
  }

  /** @param state `idle`, `preparing`, `started`, `running`, `broken` or `done` */
  #show(state, text) {
    this.element.dataset.state = state;
    find(this.element, '.download-about').textContent = state === 'idle' ? this.#about : (text ?? '');
    const isWorking = state === 'preparing' || state === 'running';
    this.#cancel.hidden = !isWorking;
    this.#start.hidden = isWorking || state === 'broken';
    this.#resume.hidden = state !== 'broken';
    this.#start.firstChild.textContent = state === 'done' || state === 'started' ? 'Again' : 'Download';
    this.#progress.hidden = state !== 'running';
    if (isWorking && this.element.contains(document.activeElement)) this.#cancel.focus();
    if (state === 'broken') this.#resume.focus({ preventScroll: true });
  }
}

function sizeWords({ bytes, isExact }) {
  if (bytes === undefined) return '';
  return `, ${isExact ? '' : 'about '}${formatBytes(bytes)}`;
}

/** @throws RequestFailed where the stream would be refused */
async function askFirst(href, signal, { target }) {
  const options = { headers: withAccessKey(), cache: 'no-store' };
  const head = await fetch(href, { ...options, method: 'HEAD', signal });
  const header = (name) => head.headers.get(name);
  if (head.ok) {
    const fallback = target === 'mp3' ? 'sound.mp3' : 'video.mp4';
    return { fileName: fileNameOf(header('Content-Disposition'), fallback), size: sizeOf(header) };
  }
  // An answer to HEAD has no body: the reason is in the one to GET.
  const reading = new AbortController();
  const get = await fetch(href, { ...options, signal: AbortSignal.any([signal, reading.signal]) });
  try {
    await ensureSuccess(get);
  } finally {
    reading.abort();
  }
  throw new Error('The server refused the headers of what it then sent.');
}

/**
 * Asks the reader where to save.
 * @returns undefined where a page cannot write files
 * @throws AbortError when the reader chooses no file
 */
async function chooseFile(suggestedName) {
  if (typeof window.showSaveFilePicker !== 'function') return undefined;
  try {
    return await window.showSaveFilePicker({ suggestedName, id: 'downloads', startIn: 'downloads' });
  } catch (error) {
    if (isAbort(error)) throw error;
    // The click was too long ago, or a policy forbids it: the browser's own download is always there.
    return undefined;
  }
}
