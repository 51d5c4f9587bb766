import { byId } from '../dom.js';
import { DownloadRow } from './download-row.js';

/** The downloads that a page offers, the best first; each different file once. */
export class Downloads {
  #list = byId('video-downloads');
  #rows = [];
  #handlers;

  /** @param handlers `onStatus(text)` tells what happens, `onFailure(error, retry)` what went wrong */
  constructor(handlers) {
    this.#handlers = handlers;
    addEventListener('beforeunload', (event) => {
      if (this.#rows.some((row) => row.isTransferring)) event.preventDefault();
    });
  }

  clear() {
    for (const row of this.#rows) row.dispose();
    this.#rows = [];
    this.#list.replaceChildren();
  }

  /** @returns how many there are */
  show({ downloads, formats }) {
    this.clear();
    this.#rows = differentFiles(downloads)
      .sort((left, right) => rank(right) - rank(left))
      .map((download, index) => new DownloadRow(download, formats, index === 0, this.#handlers));
    this.#list.append(...this.#rows.map(({ element }) => element));
    return this.#rows.length;
  }

  focusFirst() {
    this.#rows[0]?.focus();
  }
}

/** Two targets can come to the same file, where a page has one size only. */
function differentFiles(downloads) {
  const byContent = new Map();
  for (const download of downloads) {
    const { target, formatIds, video, audio } = download;
    const kind = target === 'mp3' ? 'mp3' : 'mp4';
    const key = JSON.stringify([kind, formatIds, video, audio]);
    if (!byContent.has(key)) byContent.set(key, download);
  }
  return [...byContent.values()];
}

function rank({ target, height }) {
  if (target === 'mp3') return -1;
  return height ?? (target === 'mp4-1080' ? 1080 : 720);
}
