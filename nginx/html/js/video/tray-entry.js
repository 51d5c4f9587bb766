import { setAccessKeyCookie, withAccessKey } from '../access-key.js';
import { find, fromTemplate, startDownload } from '../dom.js';
import { formatBytes, formatPercent, formatSeconds, formatSpeed } from '../format.js';
import { ProblemPanel } from '../problem-panel.js';
import { ensureSuccess, isAbort, isSuccess, problemOf, RequestFailed, userMessage } from '../problem.js';
import { joined, text } from '../texts.js';
import { InterruptedTransferError, fileNameOf, sizeOf, Transfer } from './transfer.js';

const drawEveryMs = 200;
const unfinished = new Set(['preparing', 'waiting', 'running', 'broken']);

/**
 * One download in the tray. If the browser lets a page write files, the page shows the
 * progress. Otherwise the browser itself downloads the file and shows it.
 *
 * `state` is `preparing`, `waiting`, `running`, `broken`, `failed`, `started` or `done`.
 */
export class TrayEntry {
  state = 'preparing';
  #download;
  #handlers;
  #problems;
  #cancel;
  #remove;
  #resume;
  #progress;
  #request = new AbortController();
  #handle;
  #file;
  #transfer;

  /** @param handlers `folder`, `onStatus(text)`, `onChange()` after each change of state, `onRemove()` */
  constructor(download, handlers) {
    this.#download = download;
    this.#handlers = handlers;
    this.element = fromTemplate('tray-entry-template');
    this.element.dataset.target = download.target;
    find(this.element, '.tray-title').textContent = download.title;
    find(this.element, '.tag').textContent = download.name;
    this.#problems = new ProblemPanel(find(this.element, '.problem-slot'));
    this.#cancel = find(this.element, '.tray-cancel');
    this.#remove = find(this.element, '.tray-remove');
    this.#resume = find(this.element, '.tray-resume');
    this.#progress = find(this.element, 'progress');
    const label = text('tray.label', { name: download.name, title: download.title });
    this.#progress.setAttribute('aria-label', text('tray.progress', { label }));
    this.#cancel.setAttribute('aria-label', text('tray.cancel', { label }));
    this.#remove.setAttribute('aria-label', text('tray.remove', { label }));
    for (const button of [this.#cancel, this.#remove]) {
      button.addEventListener('click', () => void this.#giveUp());
    }
    this.#resume.addEventListener('click', () => this.#show('waiting', text('tray.waiting')));
  }

  get isUnfinished() {
    return unfinished.has(this.state);
  }

  /** Requests the file's name and asks where to save it, so that an error shows before anything is saved. */
  async prepare() {
    this.#show('preparing', text('tray.preparing'));
    this.#handlers.onStatus(text('tray.preparing'));
    const { signal } = this.#request;
    try {
      const { fileName, size } = await readHeaders(this.#download, signal);
      this.#handle = await chooseFile(fileName, this.#handlers.folder);
      signal.throwIfAborted();
      if (this.#handle === undefined) this.#leaveToBrowser(size);
      else {
        this.#file = await this.#handle.createWritable();
        this.#transfer = new Transfer(this.#download.href, this.#file);
        this.#show('waiting', text('tray.waiting'));
      }
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** Runs a waiting download until it is saved, cancelled, or stopped by an error. */
  async start() {
    const transfer = this.#transfer;
    this.#show('running', text('tray.running'));
    const timer = setInterval(() => this.#drawProgress(transfer), drawEveryMs);
    try {
      await transfer.run(this.#request.signal);
      const size = formatBytes(transfer.receivedBytes);
      this.#show('done', text('tray.saved', { file: this.#handle.name, size }));
      this.#handlers.onStatus(text('tray.isSaved', { name: this.#download.name }));
    } catch (error) {
      if (error instanceof InterruptedTransferError) this.#offerResume(transfer, error);
      else await this.#fail(error);
    } finally {
      clearInterval(timer);
    }
  }

  #leaveToBrowser(size) {
    setAccessKeyCookie(this.#download.href);
    startDownload(this.#download.href);
    const known = size.bytes !== undefined && { size: sizeText(size) };
    this.#show('started', known ? text('tray.startedSize', known) : text('tray.started'));
    this.#handlers.onStatus(text('tray.hasStarted', { name: this.#download.name }));
  }

  async #fail(error) {
    await this.#discard();
    if (isAbort(error)) {
      this.#handlers.onStatus(text('common.cancelled'));
      this.#handlers.onRemove();
      return;
    }
    this.#handlers.onStatus('');
    this.#problems.show(problemOf(error), {
      retry: () => void this.prepare(),
      onClose: () => this.#handlers.onRemove(),
    });
    this.#show('failed', '');
  }

  #offerResume(transfer, { cause }) {
    const received = formatBytes(transfer.receivedBytes);
    this.#resume.textContent = text(transfer.canResume ? 'tray.resume' : 'tray.restart');
    const what =
      cause instanceof RequestFailed
        ? userMessage(cause.problem).title
        : text('tray.broken', { size: received });
    this.#show('broken', what);
    this.#handlers.onStatus(text('common.colon', { name: this.#download.name, value: what }));
  }

  async #giveUp() {
    const isWorking = this.state === 'preparing' || this.state === 'running';
    this.#request.abort();
    // The running step notices the abort and then removes the entry.
    if (isWorking) return;
    if (this.isUnfinished) {
      await this.#discard();
      this.#handlers.onStatus(text('common.cancelled'));
    }
    this.#handlers.onRemove();
  }

  /** Removes an incomplete file. A browser that can't do that leaves it. */
  async #discard() {
    await this.#file?.abort().catch(() => undefined);
    await this.#handle?.remove?.().catch(() => undefined);
    this.#file = undefined;
    this.#handle = undefined;
  }

  #drawProgress(transfer) {
    const { receivedBytes, totalBytes, totalIsExact } = transfer;
    const speed = transfer.measureSpeed();
    // A file may be larger than estimated; a full bar while bytes still arrive would be wrong.
    const share = totalBytes ? Math.min(receivedBytes / totalBytes, totalIsExact ? 1 : 0.99) : undefined;
    if (share === undefined) this.#progress.removeAttribute('value');
    else this.#progress.value = share;
    const left = speed && totalBytes > receivedBytes ? (totalBytes - receivedBytes) / speed : undefined;
    const received = formatBytes(receivedBytes);
    const facts = [
      totalBytes
        ? text(totalIsExact ? 'tray.received' : 'tray.receivedAbout', {
            received,
            total: formatBytes(totalBytes),
          })
        : received,
      share !== undefined && formatPercent(Math.floor(share * 100) / 100),
      speed && formatSpeed(speed),
      left && text('tray.left', { time: formatSeconds(left) }),
    ];
    find(this.element, '.tray-state').textContent = joined(facts);
  }

  #show(state, text) {
    this.state = state;
    this.element.dataset.state = state;
    find(this.element, '.tray-state').textContent = text;
    const hadFocus = this.element.contains(document.activeElement);
    this.#cancel.hidden = !this.isUnfinished;
    this.#remove.hidden = state !== 'done' && state !== 'started';
    this.#resume.hidden = state !== 'broken';
    this.#progress.hidden = state !== 'running';
    if (hadFocus) find(this.element, 'input, button:not([hidden], :disabled)').focus({ preventScroll: true });
    this.#handlers.onChange();
  }
}

function sizeText({ bytes, isExact }) {
  const size = formatBytes(bytes);
  return isExact ? size : text('offer.sizeAbout', { size });
}

/** @throws RequestFailed if the server would reject the download */
async function readHeaders({ href, target, container }, signal) {
  const options = { headers: withAccessKey(), cache: 'no-store' };
  const head = await fetch(href, { ...options, method: 'HEAD', signal });
  const header = (name) => head.headers.get(name);
  if (isSuccess(head)) {
    const fallback = target.startsWith('mp4') ? 'video.mp4' : `audio.${container ?? 'mp3'}`;
    return { fileName: fileNameOf(header('Content-Disposition'), fallback), size: sizeOf(header) };
  }
  // A HEAD response has no body, so get the reason with GET.
  const reading = new AbortController();
  const get = await fetch(href, { ...options, signal: AbortSignal.any([signal, reading.signal]) });
  try {
    await ensureSuccess(get);
  } finally {
    reading.abort();
  }
  throw new Error('The server rejected HEAD and accepted GET.');
}

/**
 * Asks the user where to save, or uses a free name in a folder.
 * @returns undefined if the page can't write files
 * @throws AbortError if the user chooses no file
 */
async function chooseFile(suggestedName, folder) {
  if (folder !== undefined) return freeFile(folder, suggestedName);
  if (typeof window.showSaveFilePicker !== 'function') return undefined;
  try {
    return await window.showSaveFilePicker({ suggestedName, id: 'downloads', startIn: 'downloads' });
  } catch (error) {
    if (isAbort(error)) throw error;
    // The click was too long ago, or a policy forbids it. The browser can always download itself.
    return undefined;
  }
}

let lastChoice = Promise.resolve();

/** Chooses one name after the other, so that two downloads never take the same one. */
function freeFile(folder, wanted) {
  const choice = lastChoice.then(() => createFreeFile(folder, wanted));
  lastChoice = choice.catch(() => undefined);
  return choice;
}

/** Creates `film.mp4`, or `film (2).mp4` if that exists. */
async function createFreeFile(folder, wanted) {
  const [, stem, extension] = /^(.*?)(\.[^.]*)?$/su.exec(wanted);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${stem} (${number})${extension ?? ''}`;
    try {
      await folder.getFileHandle(name);
    } catch (error) {
      if (error.name !== 'NotFoundError') throw error;
      return folder.getFileHandle(name, { create: true });
    }
  }
}
