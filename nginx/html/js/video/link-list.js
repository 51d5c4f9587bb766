import { byId, find, fromTemplate, pause } from '../dom.js';
import { formatDuration, formatSeconds, hostOf } from '../format.js';
import { userMessage, isAbort, problemOf, RequestFailed } from '../problem.js';
import { joined, text } from '../texts.js';
import { lookUp } from './look-up.js';
import { bestFirst } from './offers.js';

const kinds = { video: ['mp4-1080', 'mp4-720'], small: ['mp4-720', 'mp4-1080'], audio: ['mp3'] };

/** Looks up several links one after the other, within the rate limit. */
export class LinkList {
  #box = byId('links');
  #heading = byId('links-heading');
  #list = byId('links-list');
  #saveAll = byId('links-save');
  #items = [];
  #request;
  #onShow;
  #onDownload;

  /**
   * @param onShow called with `(info, url)` of a link to show
   * @param onDownload called with `(download, folder)` for each saved link
   */
  constructor({ onShow, onDownload }) {
    this.#onShow = onShow;
    this.#onDownload = onDownload;
    byId('links-close').addEventListener('click', () => {
      this.close();
      byId('video-url').focus();
    });
    this.#saveAll.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#saveInto(find(this.#saveAll, 'select').value);
    });
  }

  close() {
    this.#request?.abort();
    this.#items = [];
    this.#list.replaceChildren();
    this.#box.hidden = true;
  }

  /** Shows the links and looks them up. Resolves to false if the list is closed before the end. */
  async open(urls) {
    this.close();
    const request = new AbortController();
    this.#request = request;
    this.#items = urls.map((url) => this.#newItem(url));
    this.#list.append(...this.#items.map(({ element }) => element));
    this.#box.hidden = false;
    this.#showCount();
    for (const item of this.#items) {
      try {
        await this.#lookUp(item, request.signal);
      } catch (error) {
        if (isAbort(error)) return false;
        throw error;
      }
    }
    return true;
  }

  #newItem(url) {
    const element = fromTemplate('link-template');
    const item = { url, element, info: undefined };
    find(element, '.link-title').textContent = url;
    find(element, '.link-show').addEventListener('click', () => this.#onShow(item.info, url));
    this.#show(item, 'waiting', text('links.waiting'));
    return item;
  }

  async #lookUp(item, signal) {
    this.#show(item, 'working', text('links.working'));
    try {
      item.info = await lookUp(item.url, signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      const { code, retryAfterSeconds } = error instanceof RequestFailed ? error.problem : {};
      if (code === 'rate_limited' && retryAfterSeconds > 0) {
        this.#show(item, 'waiting', text('links.limited', { time: formatSeconds(retryAfterSeconds) }));
        await pause(retryAfterSeconds * 1000, signal);
        return this.#lookUp(item, signal);
      }
      this.#show(item, 'failed', userMessage(problemOf(error)).title);
      return this.#showCount();
    }
    const { title, duration } = item.info;
    find(item.element, '.link-title').textContent = title;
    this.#show(item, 'ready', joined([hostOf(item.url), duration !== null && formatDuration(duration)]));
    return this.#showCount();
  }

  #show(item, state, text) {
    item.element.dataset.state = state;
    find(item.element, '.link-state').textContent = text;
    find(item.element, '.link-show').hidden = state !== 'ready';
  }

  get #ready() {
    return this.#items.filter(({ info }) => info?.downloads.length > 0);
  }

  #showCount() {
    this.#heading.textContent = text('links.heading', { n: this.#items.length });
    // Without a folder, the user would get one dialog per file.
    this.#saveAll.hidden = typeof window.showDirectoryPicker !== 'function' || this.#ready.length === 0;
    find(this.#saveAll, 'button').textContent = text('links.download', { n: this.#ready.length });
  }

  async #saveInto(kind) {
    let folder;
    try {
      folder = await window.showDirectoryPicker({ id: 'downloads', mode: 'readwrite', startIn: 'downloads' });
    } catch (error) {
      if (isAbort(error)) return;
      throw error;
    }
    for (const { info } of this.#ready) {
      const wanted = kinds[kind];
      const download =
        wanted.map((target) => info.downloads.find((each) => each.target === target)).find(Boolean) ??
        bestFirst(info.downloads)[0];
      const name = download.target === 'mp3' ? 'MP3' : 'MP4';
      this.#onDownload({ target: download.target, href: download.href, name, title: info.title }, folder);
    }
  }
}
