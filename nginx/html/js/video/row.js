import { find, fromTemplate, make, setIcon, setText } from '../dom.js';
import { text } from '../texts.js';

/**
 * @typedef {object} Shown what a row says
 * @property {string} tone
 * @property {string} state in words
 * @property {string} [icon]
 * @property {number} [share] of the bar, 0-1
 * @property {Act} [act]
 * @typedef {{ icon: string, label: string, isMain?: boolean }} Act what its button does
 */

/** A line of a list: picture, title, state and one button, whose meaning follows the state. */
export class Row {
  element = fromTemplate('row-template');
  #title = find(this.element, '.row-title');
  #state = find(this.element, '.row-state');
  #icon = find(this.element, '.row-state-icon');
  #bar = find(this.element, '.bar');
  #act = find(this.element, '.row-act');
  #name = '';

  /**
   * @param {object} handlers
   * @param {() => void} handlers.onAct
   * @param {() => void} [handlers.onOpen] called when the title is clicked
   */
  constructor({ onAct, onOpen }) {
    this.#act.addEventListener('click', onAct);
    if (onOpen) {
      this.#title.addEventListener('click', onOpen);
      return;
    }
    const title = make('p', { className: 'row-title', dir: 'auto' });
    this.#title.replaceWith(title);
    this.#title = title;
  }

  name(/** @type {string} */ title) {
    this.#name = title;
    setText(this.#title, title);
  }

  /** Shows a picture from the video's own site, over HTTPS only. */
  picture(/** @type {string | null | undefined} */ url) {
    const frame = find(this.element, '.row-film');
    const image = find(frame, 'img', HTMLImageElement);
    frame.hidden = false;
    if (!url || !/^https:/i.test(url) || image.src === url) return;
    image.addEventListener('load', () => (image.hidden = false));
    image.src = url;
  }

  show(/** @type {Shown} */ { tone, state, icon, share, act }) {
    this.element.dataset.tone = tone;
    setText(this.#state, state);
    setIcon(this.#icon, icon);
    this.#bar.hidden = share === undefined;
    this.#bar.style.setProperty('--share', String(share ?? 0));
    this.#act.hidden = act === undefined;
    if (act === undefined) return;
    setIcon(find(this.#act, '.act-icon'), act.icon);
    setText(find(this.#act, '.act-label'), act.label);
    this.#act.classList.toggle('is-plain', !act.isMain);
    this.#act.setAttribute('aria-label', text('common.colon', { name: act.label, value: this.#name }));
  }
}
