import { byId, make } from '../dom.js';
import { hostOf } from '../format.js';

/** @typedef {{ url: string, title: string }} Page */

const key = 'recent-videos';
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
      store([]);
      this.#show();
      byId('video-url').focus();
    });
    this.#show();
  }

  add(/** @type {string} */ url, /** @type {string} */ title) {
    store([{ url, title }, ...stored().filter((item) => item.url !== url)].slice(0, most));
    this.#show();
  }

  #show() {
    const items = stored();
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

/** Without storage (private windows, a full disk) nothing is stored, which is not an error. @returns {Page[]} */
function stored() {
  try {
    const items = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(items) ? items.filter((item) => item?.url && item?.title) : [];
  } catch {
    return [];
  }
}

function store(/** @type {Page[]} */ items) {
  try {
    if (items.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(items));
  } catch {
    // See above.
  }
}
