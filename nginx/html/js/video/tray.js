import { byId } from '../dom.js';
import { TrayEntry } from './tray-entry.js';

/** Lower than the number of concurrent streams that the gateway allows per client. */
const maxRunning = 3;

/** The downloads of this visit. Looking up another page doesn't affect them. */
export class Tray {
  #box = byId('tray');
  #list = byId('tray-list');
  #entries = new Set();
  #onStatus;

  /** @param onStatus called with a sentence for the status line */
  constructor(onStatus) {
    this.#onStatus = onStatus;
    addEventListener('beforeunload', (event) => {
      if ([...this.#entries].some(({ isUnfinished }) => isUnfinished)) event.preventDefault();
    });
  }

  /**
   * Starts a download.
   * @param download `target`, `href`, `name` (for example `720p MP4`) and the `title` of the page
   * @param folder a directory handle to save into; without one, the reader chooses a file
   */
  add(download, folder) {
    const entry = new TrayEntry(download, {
      folder,
      onStatus: this.#onStatus,
      onChange: () => this.#startWaiting(),
      onRemove: () => this.#remove(entry),
    });
    this.#entries.add(entry);
    this.#list.prepend(entry.element);
    this.#box.hidden = false;
    entry.prepare();
  }

  #startWaiting() {
    const running = [...this.#entries].filter(({ state }) => state === 'running').length;
    const waiting = [...this.#entries].filter(({ state }) => state === 'waiting');
    for (const entry of waiting.slice(0, maxRunning - running)) entry.start();
  }

  #remove(entry) {
    const next = entry.element.nextElementSibling ?? entry.element.previousElementSibling;
    const active = document.activeElement;
    const hadFocus = active === document.body || entry.element.contains(active);
    entry.element.remove();
    this.#entries.delete(entry);
    this.#box.hidden = this.#entries.size === 0;
    if (hadFocus) (next?.querySelector('button:not([hidden])') ?? byId('video-url')).focus();
    this.#startWaiting();
  }
}
