import { settleAccessKey } from '../access-key.js';
import { announce, byId, find, setIcon, setText } from '../dom.js';
import { ProblemPanel } from '../problem-panel.js';
import { isAbort, problemOf } from '../problem.js';
import { text } from '../texts.js';
import { ChoiceList } from './choice-list.js';
import { Clip } from './clip.js';
import { reasonFor } from './download-state.js';
import { Downloads } from './downloads.js';
import { LinkList } from './link-list.js';
import { urlIn, urlsIn } from './links.js';
import { LookUps, pageQuery } from './look-up.js';
import { Recent } from './recent.js';
import { Summary } from './summary.js';
import { Tray } from './tray.js';

/** @typedef {import('./look-up.js').Part} Part */
/** @typedef {import('./look-up.js').Info} Info */

/** Maximum number of pasted links; this is not meant for whole playlists. */
const maxLinks = 20;
/** After so long, the page says that it is still working. */
const longMs = 10_000;

/** Turns links into downloads. */
export class VideoTool {
  #box = byId('video');
  #form = byId('video-form', HTMLFormElement);
  #input = byId('video-url', HTMLInputElement);
  #submit = byId('video-submit', HTMLButtonElement);
  #problems = new ProblemPanel(byId('video-problem'), this.#input);
  #summary = new Summary();
  #clip = new Clip((clip) => this.#openPart(clip));
  #recent = new Recent((url) => this.open(url));
  #stage;
  #lookUps;
  #choices;
  #links;
  /** @type {AbortController | undefined} */
  #looking;
  /** URL of the shown page, and the selected part; see look-up.js. */
  #url = '';
  /** @type {Part} */
  #part = {};

  /**
   * @param {import('../stage.js').Stage} stage
   * @param {import('../request-queue.js').RequestQueue} queue
   */
  constructor(stage, queue) {
    this.#stage = stage;
    // Start asks for the next link; what is open is kept.
    stage.watch((view) => {
      this.#input.value = view === 'start' || this.#box.dataset.state === 'list' ? '' : this.#url;
      this.#showMode();
    });
    this.#lookUps = new LookUps(queue);
    const downloads = new Downloads(queue);
    this.#choices = new ChoiceList(downloads);
    this.#links = new LinkList(this.#lookUps, downloads, ({ url, part = {} }) => {
      stage.open('video', { url: `?${pageQuery(url, part)}` });
      this.show(url, part);
    });
    new Tray(downloads, (download) => this.#links.has(download));
    downloads.watch(() =>
      stage.mark(
        'video',
        downloads.all.some(({ isActive }) => isActive),
      ),
    );
    downloads.restore();
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#submit.dataset.mode === 'stop') return;
      this.#openText(this.#input.value);
    });
    this.#submit.addEventListener('click', (event) => {
      const { mode } = this.#submit.dataset;
      if (mode === 'find') return; // the form is submitted
      event.preventDefault();
      // The second click of a double-click must not undo what the first one did.
      if (event.detail > 1) return;
      if (mode === 'paste') void this.#paste();
      else if (mode === 'stop') this.#cancel();
      else this.#clear();
    });
    this.#input.addEventListener('paste', (event) => {
      const { value, selectionStart, selectionEnd } = this.#input;
      const replacesAll = value === '' || (selectionEnd ?? 0) - (selectionStart ?? 0) === value.length;
      const pasted = event.clipboardData?.getData('text/plain') ?? '';
      if (!replacesAll || urlIn(pasted, { bare: true }) === undefined) return;
      event.preventDefault();
      this.#openText(pasted);
    });
    this.#input.addEventListener('input', () => {
      this.#reject('');
      this.#showMode();
    });
    this.#input.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.#looking) this.#cancel();
    });
    this.#showMode();
  }

  /** Looks up the URLs in a text, as if the user had submitted it. */
  #openText(/** @type {string} */ typed) {
    const urls = urlsIn(typed);
    // Send a text without a URL unchanged; the server's error explains what is wrong.
    const url = urlIn(typed, { bare: true }) ?? typed.trim();
    if (urls.length > 1) this.openAll(urls);
    else if (url !== '') this.open(url);
    else {
      this.#reject(text('video.linkMissing'));
      this.#input.focus();
    }
  }

  /** Looks up one URL or a part of it; see look-up.js. */
  open(/** @type {string} */ url, /** @type {Part} */ part = {}) {
    this.#stage.open('video', { url: `?${pageQuery(url, part)}` });
    this.#take(url, part);
    void this.#lookUp();
  }

  /** Shows a page again, without a new entry in the browser's history. */
  show(/** @type {string} */ url, /** @type {Part} */ part = {}) {
    this.#take(url, part);
    const known = this.#lookUps.known(url, part);
    if (known) this.#show(known);
    else void this.#lookUp();
  }

  #take(/** @type {string} */ url, /** @type {Part} */ part) {
    this.#reset();
    this.#input.value = url;
    this.#url = url;
    this.#part = part;
  }

  /** Shows several links, but no more than {@link maxLinks}. */
  openAll(/** @type {string[]} */ found) {
    const links = found.slice(0, maxLinks);
    this.#stage.open('video', { url: './?list', links });
    this.showAll(links);
    if (links.length < found.length) {
      this.#reject(text('video.firstLinks', { n: links.length, count: found.length }));
    }
  }

  showAll(/** @type {string[]} */ urls) {
    this.#reset();
    this.#input.value = '';
    this.#setState('list');
    this.#links.open(
      urls.map((url) => ({ url })),
      { isOnePage: false },
    );
  }

  /** Shows nothing, as at the start. */
  reset() {
    this.#reset();
    this.#url = '';
    this.#input.value = '';
    this.#setState('idle');
  }

  #openPart(/** @type {Part} */ clip) {
    const { item } = this.#part;
    this.open(this.#url, { ...(item !== undefined && { item }), ...clip });
  }

  async #lookUp() {
    const [url, part] = [this.#url, this.#part];
    const looking = new AbortController();
    this.#looking = looking;
    this.#setState('looking');
    setText(byId('video-title'), text('video.lookingUp'));
    announce(text('video.lookingUp'));
    const note = byId('video-looking-note');
    setText(note, text('video.usually'));
    const timer = setTimeout(() => setText(note, text('video.stillLooking')), longMs);
    const onWait = (/** @type {import('../request-queue.js').Wait | undefined} */ wait) =>
      setText(note, wait ? reasonFor(wait) : text('video.usually'));
    try {
      const info = await this.#lookUps.find(url, part, { signal: looking.signal, isClick: true, onWait });
      if (this.#looking !== looking) return;
      settleAccessKey(true);
      this.#show(info);
      this.#choices.startRemembered();
    } catch (error) {
      if (this.#looking !== looking || isAbort(error)) return;
      this.#setState('problem');
      const problem = problemOf(error);
      if (problem.code === 'invalid_url') this.#input.setAttribute('aria-invalid', 'true');
      this.#problems.show(problem, { retry: () => void this.#lookUp() });
    } finally {
      clearTimeout(timer);
    }
  }

  #show(/** @type {Info} */ info) {
    const { items = [] } = info;
    this.#recent.add(this.#url, info.title);
    if (items.length > 1 && this.#part.item === undefined) {
      this.#setState('list');
      this.#links.open(
        items.map(({ index, ...item }) => ({ ...item, url: this.#url, part: { item: index } })),
        { isOnePage: true },
      );
      return;
    }
    this.#summary.show(info);
    const part = this.#clip.show(info, this.#part);
    const count = this.#choices.show(info, part);
    this.#setState('ready');
    announce(text(count === 0 ? 'video.nothing' : part === '' ? 'video.choose' : 'clip.applied', { part }));
    if (count === 0) this.#reject(text('video.nothing'));
    // Focus the main button for Enter, unless the user has moved on.
    const active = document.activeElement;
    if (active === document.body || this.#form.contains(active)) this.#choices.focusFirst();
  }

  async #paste() {
    try {
      this.#openText(await navigator.clipboard.readText());
    } catch {
      // Not allowed: the user pastes into the field instead.
      this.#setMode('find');
      this.#input.focus();
    }
  }

  #cancel() {
    this.#reset();
    this.#setState('idle');
    announce(text('common.cancelled'));
    this.#input.focus();
  }

  #clear() {
    this.#stage.open('video', { url: './' });
    this.reset();
    this.#input.focus();
  }

  #reset() {
    this.#looking?.abort();
    this.#looking = undefined;
    this.#problems.clear();
    this.#links.close();
    this.#choices.clear();
    this.#clip.hide();
    this.#reject('');
  }

  /** Says what is wrong with the link. */
  #reject(/** @type {string} */ words) {
    setText(byId('video-status'), words);
    if (words === '') this.#input.removeAttribute('aria-invalid');
    else this.#input.setAttribute('aria-invalid', 'true');
  }

  #setState(/** @type {'idle' | 'looking' | 'ready' | 'list' | 'problem'} */ state) {
    this.#box.dataset.state = state;
    if (state !== 'looking') this.#looking = undefined;
    this.#showMode();
  }

  /** What the button beside the field does now. */
  #showMode() {
    const value = this.#input.value.trim();
    if (this.#looking && document.body.dataset.view !== 'start') this.#setMode('stop');
    else if (value !== '')
      this.#setMode(value === this.#url && this.#box.dataset.state === 'ready' ? 'clear' : 'find');
    else this.#setMode(typeof navigator.clipboard?.readText === 'function' ? 'paste' : 'find');
  }

  #setMode(/** @type {'paste' | 'find' | 'stop' | 'clear'} */ mode) {
    const icons = { paste: 'paste', find: 'search', stop: 'stop', clear: 'close' };
    const words = { paste: 'video.paste', find: 'video.find', stop: 'video.stop', clear: 'video.clear' };
    this.#submit.dataset.mode = mode;
    // Enter in the field always looks up.
    this.#submit.type = mode === 'find' ? 'submit' : 'button';
    setIcon(find(this.#submit, '.submit-icon'), icons[mode]);
    setText(find(this.#submit, '.submit-text'), text(words[mode]));
  }
}
