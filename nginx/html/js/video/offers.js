import { byId, find, fromTemplate } from '../dom.js';
import { describeDownload } from './describe-download.js';

/** The available downloads, best first and without duplicates. */
export class Offers {
  #list = byId('video-downloads');
  #offers = [];
  #onStart;

  /** @param onStart see Offer */
  constructor(onStart) {
    this.#onStart = onStart;
  }

  clear() {
    this.#offers = [];
    this.#list.replaceChildren();
  }

  /** @returns how many there are */
  show({ title, downloads, formats, originalAudio }) {
    const hasOriginal = originalAudio && !isUnchanged(downloads, originalAudio);
    const original = hasOriginal ? [{ ...originalAudio, target: 'original' }] : [];
    this.#offers = [...bestFirst(downloads), ...original].map(
      (download, index) =>
        new Offer(download, formats, index === 0, (started) => this.#onStart({ ...started, title })),
    );
    this.#list.replaceChildren(...this.#offers.map(({ element }) => element));
    return this.#offers.length;
  }

  focusFirst() {
    this.#offers[0]?.focus();
  }
}

/** Sorts the downloads and removes duplicates: two targets give the same file if a page has only one size. */
export function bestFirst(downloads) {
  const byContent = new Map();
  for (const download of downloads) {
    const { target, formatIds, video, audio } = download;
    const kind = target === 'mp3' ? 'mp3' : 'mp4';
    const key = JSON.stringify([kind, formatIds, video, audio]);
    if (!byContent.has(key)) byContent.set(key, download);
  }
  return [...byContent.values()].sort((left, right) => rank(right) - rank(left));
}

function rank({ target, height }) {
  if (target === 'mp3') return -1;
  return height ?? (target === 'mp4-1080' ? 1080 : 720);
}

/** Whether the MP3 is already the original. */
function isUnchanged(downloads, { container }) {
  const mp3 = downloads.find(({ target }) => target === 'mp3');
  return container === 'mp3' && mp3 !== undefined && mp3.audio !== 'transcode';
}

/** One available download: its description and the button that starts it. */
class Offer {
  #start;

  /**
   * @param isMain whether this is the recommended download
   * @param onStart called with the download: `target`, `href` and a display `name`
   */
  constructor(download, formats, isMain, onStart) {
    this.element = fromTemplate('download-template');
    this.element.dataset.target = download.target;
    const { title, tag, about } = describeDownload(download, formats);
    const name = `${title} ${tag}`;
    find(this.element, '.download-title').textContent = title;
    find(this.element, '.tag').textContent = tag;
    find(this.element, '.download-about').textContent = about;
    this.#start = find(this.element, '.download-start');
    find(this.#start, '.visually-hidden').textContent = ` ${name}`;
    this.#start.classList.toggle('primary', isMain);
    this.#start.href = download.href;
    this.#start.addEventListener('click', (event) => {
      event.preventDefault();
      // The second click of a double-click is not a second download.
      const { target, href, container } = download;
      if (event.detail < 2) onStart({ target, href, container, name });
    });
  }

  focus() {
    this.#start.focus({ preventScroll: true });
  }
}
