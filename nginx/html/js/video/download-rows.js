import { byId, find, setLink, startDownload } from '../dom.js';
import { codecName, formatBytes } from '../format.js';
import { ensureSuccess, isAbort } from '../problem.js';

const startedForMs = 6000;

/** The downloads that a page offers, each with what it will be and its button. */
export class DownloadRows {
  #rows;
  #abort = new AbortController();

  /** @param handlers `onStatus(text)` tells what happens, `onFailure(error, retry)` what went wrong */
  constructor(handlers) {
    this.#rows = [...byId('video-downloads').children].map((element) => new DownloadRow(element, handlers));
  }

  clear() {
    this.#abort.abort();
    this.#rows.forEach((row) => row.clear());
  }

  show({ downloads, formats }) {
    this.#abort.abort();
    this.#abort = new AbortController();
    for (const row of this.#rows) {
      const download = downloads.find(({ target }) => target === row.target);
      if (download === undefined) row.showUnavailable();
      else row.show(download, formats, this.#abort.signal);
    }
  }
}

class DownloadRow {
  #about;
  #button;
  #label;
  #name;
  #handlers;
  #signal;
  #busy = false;

  constructor(element, handlers) {
    this.target = element.dataset.target;
    this.#about = find(element, '.download-about');
    this.#button = find(element, '.button');
    this.#label = find(element, '.button-label');
    this.#name = find(element, 'h4').textContent;
    this.#handlers = handlers;
    this.#button.addEventListener('click', (event) => {
      event.preventDefault();
      if (this.#button.hasAttribute('href') && !this.#busy) void this.#download();
    });
  }

  clear() {
    this.#about.textContent = this.#about.dataset.idle;
    this.#setWaiting('Download');
    setLink(this.#button, undefined);
  }

  showUnavailable() {
    this.clear();
    this.#about.textContent =
      this.target === 'mp3' ? 'Not available: this video has no sound' : 'Not available for this page';
  }

  show(download, formats, signal) {
    this.#signal = signal;
    this.#about.textContent = describeDownload(download, formats);
    setLink(this.#button, download.href);
    this.#button.download = '';
  }

  /**
   * The browser itself saves the stream, so nothing of it passes through this
   * page's memory; but it would only say "failed" of a refusal. So it is asked
   * for the headers first.
   */
  async #download() {
    const { href } = this.#button;
    const signal = this.#signal;
    this.#setWaiting('Preparing…', true);
    this.#handlers.onStatus(`Preparing ${this.#name}…`);
    try {
      await askFirst(href, signal);
      startDownload(href);
      this.#handlers.onStatus(`${this.#name} has started. Your browser shows how far it is.`);
      this.#setWaiting('Started');
      setTimeout(() => !signal.aborted && !this.#busy && this.#setWaiting('Download'), startedForMs);
    } catch (error) {
      if (isAbort(error)) return;
      this.#setWaiting('Download');
      this.#handlers.onStatus('');
      this.#handlers.onFailure(error, () => void this.#download());
    }
  }

  #setWaiting(label, busy = false) {
    this.#busy = busy;
    this.#label.textContent = label;
    this.#button.setAttribute('aria-busy', String(busy));
  }
}

/** @throws RequestFailed where the stream would be refused */
async function askFirst(href, signal) {
  const head = await fetch(href, { method: 'HEAD', cache: 'no-store', signal });
  if (head.ok) return;
  // An answer to HEAD has no body: the reason is in the one to GET.
  const reading = new AbortController();
  const get = await fetch(href, { cache: 'no-store', signal: AbortSignal.any([signal, reading.signal]) });
  try {
    await ensureSuccess(get);
  } finally {
    reading.abort();
  }
}

/** `H.264 and AAC as they are · 1280 × 720 · about 40 MB` */
export function describeDownload(download, formats) {
  const used = (download.formatIds ?? [])
    .map((id) => formats.find((format) => format.id === id))
    .filter(Boolean);
  const codecOf = (kind) => {
    const codec = used.map((format) => format[kind]).find(Boolean);
    return codec ? codecName(codec) : undefined;
  };
  const size =
    download.estimatedBytes === null ? 'size unknown' : `about ${formatBytes(download.estimatedBytes)}`;
  if (download.target === 'mp3') {
    const source = codecOf('audioCodec');
    const action =
      download.audio === 'copy' ? 'MP3 as it is' : source ? `converted from ${source}` : 'converted to MP3';
    return [action, size].join(' · ');
  }
  return [pictureSize(download, used), pictureAndSound(download, codecOf), size].filter(Boolean).join(' · ');
}

function pictureSize({ height }, used) {
  const picture = used.find((format) => format.width && format.height);
  if (picture) return `${picture.width} × ${picture.height}`;
  return height ? `${height} lines` : undefined;
}

function pictureAndSound({ video, audio }, codecOf) {
  const part = (action, codec, target, word) => {
    if (action === null || action === undefined) return `no ${word}`;
    if (action === 'transcode') return `${codec ?? word} converted to ${target}`;
    return `${codec ?? word} as it is`;
  };
  if (video === 'copy' && audio === 'copy') {
    const [picture, sound] = [codecOf('videoCodec'), codecOf('audioCodec')];
    return picture && sound ? `${picture} and ${sound} as they are` : 'picture and sound as they are';
  }
  return [
    part(video, codecOf('videoCodec'), 'H.264', 'picture'),
    part(audio, codecOf('audioCodec'), 'AAC', 'sound'),
  ].join(', ');
}
