import { isAbort } from '../problem.js';
import { Stored } from '../stored.js';
import { Download } from './download.js';
import { chooseFile } from './save-targets.js';

/** @typedef {import('./download.js').Wanted} Wanted */

/** @type {Stored<{ wanted: Wanted, state: import('./download.js').State }[]>} */
const stored = new Stored('sessionStorage', 'downloads', []);
const tickMs = 500;

/** All downloads of this tab, also those from before a reload. */
export class Downloads {
  /** The latest first. @type {Download[]} */
  all = [];
  #queue;
  /** @type {Set<(changed: Download | undefined) => void>} */
  #listeners = new Set();
  #timer = 0;

  constructor(/** @type {import('../request-queue.js').RequestQueue} */ queue) {
    this.#queue = queue;
    addEventListener('beforeunload', (event) => {
      if (this.all.some(({ isActive }) => isActive)) event.preventDefault();
    });
  }

  /** Calls `listener` with each changed download, and with undefined while time passes. */
  watch(/** @type {(changed: Download | undefined) => void} */ listener) {
    this.#listeners.add(listener);
  }

  /** The latest download of a stream. */
  of(/** @type {string | undefined} */ href) {
    return this.all.find(({ wanted }) => wanted.href === href);
  }

  /** Starts a download during a click: the user may choose a file, if the browser can do that. */
  async startClicked(/** @type {Wanted} */ wanted) {
    const download = this.#add(wanted);
    try {
      const file = await chooseFile(download.suggestedName);
      await download.start({ isClick: true, ...(file && { file }) });
    } catch (error) {
      if (!isAbort(error)) throw error;
      this.remove(download);
    }
  }

  /** Starts a download that nobody waits for. */
  start(/** @type {Wanted} */ wanted, /** @type {FileSystemDirectoryHandle | undefined} */ folder) {
    return this.#add(wanted).start({ isClick: false, ...(folder && { folder }) });
  }

  remove(/** @type {Download} */ download) {
    void download.cancel();
    this.all = this.all.filter((other) => other !== download);
    this.#changed(undefined);
    this.#store();
  }

  /** Starts again what a reload has interrupted. */
  restore() {
    for (const { wanted, state } of stored.value.reverse()) {
      const download = this.#add(wanted);
      if (state === 'saved' || state === 'started') download.state = state;
      else void download.start({ isClick: false });
    }
    this.#changed(undefined);
  }

  #add(/** @type {Wanted} */ wanted) {
    const download = new Download(wanted, this.#queue, (changed) => {
      if (changed.state === 'cancelled') this.remove(changed);
      this.#changed(changed);
      this.#store();
    });
    const earlier = this.of(wanted.href);
    this.all = [download, ...this.all.filter((other) => other !== earlier)];
    this.#changed(download);
    return download;
  }

  #changed(/** @type {Download | undefined} */ download) {
    for (const listener of this.#listeners) listener(download);
    const isActive = this.all.some((each) => each.isActive);
    if (isActive && this.#timer === 0) this.#timer = setInterval(() => this.#changed(undefined), tickMs);
    if (!isActive) {
      clearInterval(this.#timer);
      this.#timer = 0;
    }
  }

  #store() {
    stored.value = this.all.map(({ wanted, state }) => ({ wanted, state }));
  }
}
