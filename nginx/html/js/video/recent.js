import { byId, make } from '../dom.js';
import { hostOf } from '../format.js';
import { Stored } from '../stored.js';

/** @typedef {{ url: string, title: string }} Page */

/** @type {Stored<Page[]>} */
const stored = new Stored('localStorage', 'recent-videos', []);
const most = 8;

/** Recently looked up pages, stored only in this browser. */
export class Recent {
  #box = byId('recent');
  #list = byId('recent-list');
  #onOpen;

  /** @param {(url: string) => void} onOpen called with the URL of an item that is chosen */
  constructor(onOpen) {
    this.#onOpen = onOpen;
    byId('recent-clear').addEventListener('click', () => {
      stored.value = [];
      this.#show();
      byId('video-url').focus();
    });
    this.#show();
  }

  add(/** @type {string} */ url, /** @type {string} */ title) {
    stored.value = [{ url, title }, ...stored.value.filter((item) => item.url !== url)].slice(0, most);
    this.#show();
  }

  #show() {
    const items = stored.value;
    this.#box.hidden = items.length === 0;
    this.#list.replaceChildren(
      ...items.map(({ url, title }) => {
        const link = make('a', { href: `?url=${encodeURIComponent(url)}`, dir: 'auto' }, title);
        link.addEventListener('click', (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          this.#onOpen(url);
        });
        return make('li', {}, link, make('span', { className: 'note soft' }, hostOf(url)));
      }),
    );
  }
}
