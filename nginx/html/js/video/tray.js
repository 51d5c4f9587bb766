import { announce, byId, find, setText } from '../dom.js';
import { joined, text } from '../texts.js';
import { shown } from './download-state.js';
import { Row } from './row.js';

/** @typedef {import('./download.js').Download} Download */

/** All downloads: beside the tool on a wide screen, docked to the bottom on others. */
export class Tray {
  #box = byId('tray');
  #list = byId('tray-list');
  #dock = byId('dock');
  /** @type {Map<Download, Row>} */
  #rows = new Map();
  /** @type {WeakMap<Download, string>} */
  #told = new WeakMap();
  #downloads;
  #isListed;

  /**
   * @param {import('./downloads.js').Downloads} downloads
   * @param {(download: Download) => boolean} isListed whether the list of links shows it already
   */
  constructor(downloads, isListed) {
    this.#downloads = downloads;
    this.#isListed = isListed;
    downloads.watch((changed) => {
      this.#draw();
      if (changed) this.#tell(changed);
    });
    this.#dock.addEventListener('click', () => this.#open(!this.#isOpen));
    addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.#isOpen) this.#open(false);
    });
    document.addEventListener('click', ({ target }) => {
      if (this.#isOpen && target instanceof Node && target.isConnected && !this.#box.contains(target)) {
        this.#open(false);
      }
    });
    this.#draw();
  }

  get #isOpen() {
    return this.#dock.ariaExpanded === 'true';
  }

  #open(/** @type {boolean} */ isOpen) {
    this.#dock.ariaExpanded = String(isOpen);
    this.#box.classList.toggle('is-open', isOpen);
  }

  #draw() {
    const all = this.#downloads.all.filter((download) => !this.#isListed(download));
    for (const [download, row] of this.#rows) {
      if (all.includes(download)) continue;
      if (row.element.contains(document.activeElement)) this.#dock.focus();
      row.element.remove();
      this.#rows.delete(download);
    }
    for (const download of all.toReversed()) this.#rowFor(download).show(shown(download));
    const summary = summaryOf(all);
    byId('tray-none').hidden = all.length > 0;
    setText(byId('tray-summary'), summary);
    document.body.classList.toggle('has-downloads', all.length > 0);
    const [latest] = [...all.filter(({ isActive }) => isActive), ...all];
    if (latest === undefined) return;
    const { state, share } = shown(latest);
    setText(find(this.#dock, 'b'), summary || text('tray.heading'));
    setText(find(this.#dock, 'small'), state);
    this.#dock.style.setProperty('--share', String(share ?? (latest.isActive ? 0 : 1)));
  }

  #rowFor(/** @type {Download} */ download) {
    const known = this.#rows.get(download);
    if (known) return known;
    const row = new Row({ onAct: () => this.#act(download) });
    const { title, name, extension } = download.wanted;
    row.name(joined([title, extension === 'mp4' ? name : extension.toUpperCase()]));
    this.#rows.set(download, row);
    this.#list.prepend(row.element);
    return row;
  }

  #act(/** @type {Download} */ download) {
    if (download.isActive) this.#downloads.remove(download);
    else if (download.state === 'failed' && download.transfer?.canResume)
      void download.start({ isClick: true });
    else void this.#downloads.startClicked(download.wanted);
  }

  #tell(/** @type {Download} */ download) {
    const { state } = download;
    if (!['running', 'saved', 'started', 'failed'].includes(state) || this.#told.get(download) === state)
      return;
    this.#told.set(download, state);
    const { suffix, state: words } = shown(download);
    announce(
      joined([
        download.wanted.title,
        download.wanted.name,
        state === 'running' ? words : suffix,
        state === 'failed' && words,
      ]),
    );
  }
}

function summaryOf(/** @type {Download[]} */ all) {
  const count = (/** @type {(download: Download) => boolean} */ matches) => all.filter(matches).length;
  const running = count(({ state }) => state === 'running' || state === 'preparing');
  const waiting = count(({ state }) => state === 'waiting');
  const failed = count(({ state }) => state === 'failed');
  const saved = count(({ state }) => state === 'saved' || state === 'started');
  return joined([
    running > 0 && text('tray.running', { n: running }),
    waiting > 0 && text('tray.waiting', { n: waiting }),
    failed > 0 && text('tray.failed', { n: failed }),
    saved > 0 && text('tray.saved', { n: saved }),
  ]);
}
