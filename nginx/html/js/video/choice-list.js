import { byId, find, fromTemplate, make, setIcon, setText } from '../dom.js';
import { Stored } from '../stored.js';
import { joined, text } from '../texts.js';
import { choicesOf } from './choices.js';
import { shown } from './download-state.js';
import { LanguageFields } from './languages.js';

/** @typedef {import('./choices.js').Choice} Choice */
/** @typedef {import('./download.js').Download} Download */
/** @typedef {import('./downloads.js').Downloads} Downloads */

const shownFirst = 3;
/** What the user always wants. @type {Stored<string | null>} */
const always = new Stored('localStorage', 'always', null);

/** The choices for one video, each with a button that shows its download's state. */
export class ChoiceList {
  #list = byId('video-downloads');
  #more = byId('video-more');
  #others = byId('video-others', HTMLDetailsElement);
  #always = byId('always');
  #tick = find(this.#always, 'input', HTMLInputElement);
  /** @type {ChoiceRow[]} */
  #rows = [];
  /** @type {Choice['id']} */
  #lastId = 'video';
  #languages = new LanguageFields(byId('video-languages'), () => this.#changed());
  /** @type {Parameters<ChoiceList['show']> | undefined} */
  #shown;
  #downloads;

  constructor(/** @type {Downloads} */ downloads) {
    this.#downloads = downloads;
    downloads.watch(() => this.#draw());
    this.#tick.addEventListener('change', () => (always.value = this.#tick.checked ? this.#lastId : null));
  }

  clear() {
    this.#rows = [];
    this.#list.replaceChildren();
    this.#more.replaceChildren();
    this.#others.hidden = true;
    this.#always.hidden = true;
    this.#languages.show([], false);
  }

  /** The user chose another language. */
  #changed() {
    if (this.#shown === undefined) return;
    const isOpen = this.#others.open;
    this.show(...this.#shown);
    this.#others.open = isOpen;
  }

  /**
   * @param {import('./look-up.js').Info} info
   * @param {string} part for example `0:05–0:09`, or an empty string
   * @returns how many there are
   */
  show(info, part) {
    this.#shown = [info, part];
    this.#languages.show([info], false);
    const choices = choicesOf(info);
    this.#rows = choices.map((choice, index) => {
      const name = part === '' ? choice.name : text('choice.part', { name: choice.name, part });
      return new ChoiceRow({ ...choice, name }, info.title, index === 0, this.#downloads, () =>
        this.#chosen(choice.id),
      );
    });
    const elements = this.#rows.map(({ element }) => element);
    this.#list.replaceChildren(...elements.slice(0, shownFirst));
    this.#more.replaceChildren(...elements.slice(shownFirst));
    const lines = choices.map(({ name, details }) =>
      make('li', {}, text('common.colon', { name, value: details })),
    );
    byId('video-formats').replaceChildren(...lines);
    this.#others.hidden = choices.length === 0;
    this.#others.open = false;
    this.#tick.checked = always.value !== null;
    this.#always.hidden = !this.#tick.checked;
    this.#draw();
    return choices.length;
  }

  focusFirst() {
    this.#rows[0]?.focus();
  }

  /** Starts what the user always wants, without a click. @returns whether something has started */
  startRemembered() {
    const row = this.#rows.find(({ choice }) => choice.id === always.value);
    if (row === undefined || this.#downloads.of(row.choice.href) !== undefined) return false;
    void this.#downloads.start(row.wanted, undefined);
    return true;
  }

  #chosen(/** @type {Choice['id']} */ id) {
    this.#lastId = id;
    this.#always.hidden = false;
    if (this.#tick.checked) always.value = id;
  }

  #draw() {
    for (const row of this.#rows) row.draw();
  }
}

/** One choice: its description, and the button that starts it and shows how far it is. */
class ChoiceRow {
  element = fromTemplate('choice-template');
  #act = find(this.element, '.choice-act', HTMLButtonElement);
  #stop = find(this.element, '.choice-stop', HTMLButtonElement);
  #isMain;
  #downloads;

  /**
   * @param {Choice} choice
   * @param {string} title of the video
   * @param {boolean} isMain whether this is the recommended one
   * @param {Downloads} downloads
   * @param {() => void} onStart
   */
  constructor(choice, title, isMain, downloads, onStart) {
    this.choice = choice;
    const { href, name, extension, bytes, isExact } = choice;
    this.wanted = { href, title, name, extension, bytes, isExact };
    this.#isMain = isMain;
    this.#downloads = downloads;
    this.element.dataset.choice = choice.id;
    this.#stop.setAttribute('aria-label', text('tray.cancel', { label: name }));
    this.#act.addEventListener('click', () => {
      const current = this.#current;
      // A second click does nothing: the first one's download is shown here.
      if (current?.isActive) return;
      onStart();
      if (current?.transfer?.canResume) void current.start({ isClick: true });
      else void downloads.startClicked(this.wanted);
    });
    this.#stop.addEventListener('click', () => {
      if (this.#current) downloads.remove(this.#current);
      this.focus();
    });
  }

  get #current() {
    return this.#downloads.of(this.choice.href);
  }

  focus() {
    this.#act.focus({ preventScroll: true });
  }

  draw() {
    const current = this.#current;
    const { name, facts, extension } = this.choice;
    const icon = extension === 'mp4' ? 'film' : 'note';
    const download = { icon: 'down', label: text('choice.download') };
    /** @type {import('./download-state.js').Shown} */
    const state = current ? shown(current) : { tone: 'ready', icon, suffix: '', state: facts, act: download };
    this.element.dataset.tone = state.tone;
    this.element.classList.toggle('is-main', this.#isMain && current === undefined);
    this.element.style.setProperty('--share', String(state.share ?? 0));
    setIcon(find(this.element, '.choice-icon'), state.icon);
    setText(find(this.element, 'strong'), joined([name, state.suffix]));
    setText(find(this.element, 'small'), state.state);
    const isActive = current?.isActive === true;
    setIcon(find(this.element, '.do-icon'), isActive ? undefined : state.act?.icon);
    setText(find(this.element, '.do-label'), isActive ? '' : (state.act?.label ?? ''));
    this.#act.setAttribute('aria-busy', String(isActive));
    this.#stop.hidden = !isActive;
  }
}
