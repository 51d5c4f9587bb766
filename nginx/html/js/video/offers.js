import { byId } from '../dom.js';
import { Offer } from './offer.js';

/** The downloads that a page offers, the best first and each different file once. */
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

/** The downloads that lead to different files: two targets give the same one where a page has one size only. */
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

/** Whether the MP3 is the original already. */
function isUnchanged(downloads, { container }) {
  const mp3 = downloads.find(({ target }) => target === 'mp3');
  return container === 'mp3' && mp3 !== undefined && mp3.audio !== 'transcode';
}
