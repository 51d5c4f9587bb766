import { byId, findAll } from './dom.js';

/** @typedef {'start' | 'video' | 'image'} View */
/** @typedef {'video' | 'image'} Tool */
/** @typedef {{ view?: View, links?: string[], [key: string]: unknown }} Entry an entry of the browser's history */

/** Which tool has the stage: both on Start, otherwise one. Each step is an entry of the browser's history. */
export class Stage {
  #links = findAll(byId('tools'), 'a');
  /** @type {(entry: Entry) => void} */
  #onReturn;
  /** @type {(view: View) => void} */
  #onShow = () => undefined;

  /** @param {(entry: Entry) => void} onReturn called when the user goes back or forward */
  constructor(onReturn) {
    this.#onReturn = onReturn;
    for (const link of this.#links) {
      link.addEventListener('click', (event) => {
        event.preventDefault();
        this.open(link.getAttribute('href') === '#image' ? 'image' : 'video');
      });
    }
    byId('home').addEventListener('click', (event) => {
      if (!(event instanceof MouseEvent) || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.open('start', { url: './' });
    });
    addEventListener('popstate', ({ state }) => {
      this.show(state?.view ?? 'start');
      this.#onReturn(state ?? {});
    });
    this.show('start');
  }

  /** Calls `listener` whenever a view is shown. */
  watch(/** @type {(view: View) => void} */ listener) {
    this.#onShow = listener;
  }

  /** Shows a view without a new entry in the history. */
  show(/** @type {View} */ view) {
    const { dataset } = document.body;
    dataset.view = view;
    // On a phone, Start has room for one tool.
    dataset.tool = view === 'start' ? 'video' : view;
    for (const link of this.#links) {
      if (link.getAttribute('href') === `#${dataset.tool}`) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
    this.#onShow(view);
  }

  /**
   * Shows a view as a new entry in the history.
   * @param {View} view @param {{ url?: string, links?: string[] }} entry
   */
  open(view, { url = '', ...entry } = {}) {
    const isSame = url === '' ? history.state?.view === view : url === location.search && !entry.links;
    if (!isSame) history.pushState({ view, ...entry }, '', url);
    this.show(view);
    if (!isSame) scrollTo(0, 0);
  }

  /** Marks the other tool if something runs or is unsaved there. */
  mark(/** @type {Tool} */ tool, /** @type {boolean} */ isBusy) {
    for (const link of this.#links) {
      if (link.getAttribute('href') === `#${tool}`) link.classList.toggle('has-news', isBusy);
    }
  }
}
