import { byId, find, findAll, setText } from '../dom.js';
import { formatDuration, formatSeconds, hostOf } from '../format.js';
import { isAbort, problemOf, userMessage } from '../problem.js';
import { joined, text } from '../texts.js';
import { choicesOf } from './choices.js';
import { shown, reasonFor } from './download-state.js';
import { chosenIn, LanguageFields, nameOf } from './languages.js';
import { Row } from './row.js';
import { chooseFolder } from './save-targets.js';

/** @typedef {import('./look-up.js').Info} Info */
/** @typedef {import('./look-up.js').Part} Part */
/** @typedef {import('./download.js').Download} Download */
/** @typedef {'video' | 'sound'} Kind */
/** @typedef {{ url: string, part?: Part, title?: string | null, duration?: number | null, thumbnail?: string | null }} Link */
/**
 * @typedef {object} Entry one link of the list
 * @property {Link} link
 * @property {Row} row
 * @property {Info} [info]
 * @property {Promise<Info | undefined>} [looking]
 * @property {import('../problem.js').Problem} [problem]
 * @property {import('../request-queue.js').Wait} [wait]
 * @property {boolean} [isWanted] by “Download all”
 */

/** Several links, or the videos of one page: each with its own button, and one for all. */
export class LinkList {
  #box = byId('links');
  #heading = byId('links-heading');
  #list = byId('links-list');
  #kinds = findAll(byId('links-kind'), 'button');
  #languages = new LanguageFields(byId('links-languages'), () => this.#draw());
  #all = byId('links-all');
  #startAll = byId('all-start');
  #progress = find(this.#all, '.all-progress');
  /** @type {Entry[]} */
  #entries = [];
  #abort = new AbortController();
  /** @type {Kind} */
  #kind = 'video';
  #lookUps;
  #downloads;
  #onOpen;

  /**
   * @param {import('./look-up.js').LookUps} lookUps
   * @param {import('./downloads.js').Downloads} downloads
   * @param {(link: Link) => void} onOpen called with a link whose title is clicked
   */
  constructor(lookUps, downloads, onOpen) {
    this.#lookUps = lookUps;
    this.#downloads = downloads;
    this.#onOpen = onOpen;
    downloads.watch(() => this.#draw());
    for (const button of this.#kinds) {
      button.addEventListener('click', () =>
        this.#choose(button.getAttribute('value') === 'sound' ? 'sound' : 'video'),
      );
    }
    this.#startAll.addEventListener('click', () => void this.#downloadAll());
    byId('all-stop').addEventListener('click', () => this.#stopRest());
  }

  /** Whether a download is one of the list. */
  has(/** @type {Download} */ download) {
    return this.#entries.some((entry) => this.#downloadOf(entry) === download);
  }

  close() {
    this.#abort.abort();
    this.#entries = [];
    this.#list.replaceChildren();
    this.#box.hidden = true;
    this.#all.hidden = true;
    document.body.classList.remove('has-list');
  }

  /**
   * Shows links.
   * @param {Link[]} links
   * @param {{ isOnePage: boolean }} options the videos of one page are looked up only when they are wanted
   */
  open(links, { isOnePage }) {
    this.close();
    this.#abort = new AbortController();
    this.#entries = links.map((link) => this.#newEntry(link));
    this.#list.append(...this.#entries.map(({ row }) => row.element));
    this.#box.hidden = false;
    this.#all.hidden = false;
    document.body.classList.add('has-list');
    this.#choose(history.state?.kind === 'sound' ? 'sound' : 'video');
    if (!isOnePage) for (const entry of this.#entries) void this.#lookUp(entry, false);
    // From before a reload.
    if (history.state?.wantsAll) void this.#downloadInto(undefined);
  }

  #newEntry(/** @type {Link} */ link) {
    const row = new Row({
      onAct: () => void this.#act(entry),
      onOpen: () => this.#onOpen(link),
    });
    const info = this.#lookUps.known(link.url, link.part);
    /** @type {Entry} */
    const entry = { link, row, ...(info && { info }) };
    row.name(info?.title ?? link.title ?? link.url);
    row.picture(info?.thumbnail ?? link.thumbnail);
    return entry;
  }

  #choose(/** @type {Kind} */ kind) {
    this.#kind = kind;
    for (const button of this.#kinds) button.ariaPressed = String(button.getAttribute('value') === kind);
    history.replaceState({ ...history.state, kind }, '');
    this.#showLanguages();
    this.#draw();
  }

  #showLanguages() {
    const infos = this.#entries.flatMap(({ info }) => info ?? []);
    this.#languages.show(infos, this.#kind === 'sound');
  }

  /** @returns what is on the page; undefined if that failed */
  #lookUp(/** @type {Entry} */ entry, /** @type {boolean} */ isClick) {
    if (entry.info) return Promise.resolve(entry.info);
    entry.looking ??= this.#find(entry, isClick).finally(() => {
      delete entry.looking;
      delete entry.wait;
      this.#draw();
    });
    this.#draw();
    return entry.looking;
  }

  async #find(/** @type {Entry} */ entry, /** @type {boolean} */ isClick) {
    delete entry.problem;
    const onWait = (/** @type {import('../request-queue.js').Wait | undefined} */ wait) => {
      if (wait) entry.wait = wait;
      else delete entry.wait;
      this.#draw();
    };
    try {
      const options = { signal: this.#abort.signal, isClick, onWait };
      const info = await this.#lookUps.find(entry.link.url, entry.link.part ?? {}, options);
      entry.info = info;
      this.#showLanguages();
      entry.row.name(info.title);
      entry.row.picture(info.thumbnail);
      return info;
    } catch (error) {
      if (!isAbort(error)) entry.problem = problemOf(error);
      return undefined;
    }
  }

  /** The download of the chosen kind; a page may have only the other one. */
  #wanted(/** @type {Info} */ info) {
    const choices = choicesOf(info);
    const choice = choices.find(({ id }) => id === this.#kind) ?? choices[0];
    if (choice === undefined) return undefined;
    const { href, name, extension, bytes, isExact } = choice;
    return { href, title: info.title, name, extension, bytes, isExact };
  }

  #downloadOf(/** @type {Entry} */ { info }) {
    return info && this.#downloads.of(this.#wanted(info)?.href);
  }

  async #act(/** @type {Entry} */ entry) {
    const download = this.#downloadOf(entry);
    if (download?.isActive) {
      entry.isWanted = false;
      this.#downloads.remove(download);
    } else if (download?.transfer?.canResume) {
      await download.start({ isClick: true });
    } else {
      const hadInfo = entry.info !== undefined;
      const info = await this.#lookUp(entry, true);
      const wanted = info && this.#wanted(info);
      // After a look-up the click is too long ago for choosing a file.
      if (wanted)
        await (hadInfo ? this.#downloads.startClicked(wanted) : this.#downloads.start(wanted, undefined));
    }
  }

  async #downloadAll() {
    try {
      const folder = await chooseFolder();
      history.replaceState({ ...history.state, wantsAll: true }, '');
      await this.#downloadInto(folder);
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  async #downloadInto(/** @type {FileSystemDirectoryHandle | undefined} */ folder) {
    for (const entry of this.#open) entry.isWanted = true;
    this.#draw();
    await Promise.all(
      this.#entries.map(async (entry) => {
        const info = entry.isWanted && (await this.#lookUp(entry, false));
        const wanted = info && this.#wanted(info);
        if (entry.isWanted && wanted && !this.#downloads.of(wanted.href))
          await this.#downloads.start(wanted, folder);
      }),
    );
  }

  #stopRest() {
    history.replaceState({ ...history.state, wantsAll: false }, '');
    for (const entry of this.#entries) {
      entry.isWanted = false;
      const download = this.#downloadOf(entry);
      if (download?.isActive) this.#downloads.remove(download);
    }
    this.#draw();
    this.#startAll.focus();
  }

  /** The entries that “Download all” would save. */
  get #open() {
    return this.#entries.filter((entry) => {
      const download = this.#downloadOf(entry);
      return !entry.problem && (download === undefined || download.state === 'failed');
    });
  }

  #draw() {
    if (this.#entries.length === 0) return;
    for (const entry of this.#entries) entry.row.show(this.#shown(entry));
    setText(this.#heading, text('links.heading', { n: this.#entries.length }));
    const wanted = this.#entries.filter(({ isWanted }) => isWanted);
    const isDone = (/** @type {Entry} */ entry) => /saved|started/.test(this.#downloadOf(entry)?.state ?? '');
    const isOver = (/** @type {Entry} */ entry) =>
      entry.problem || isDone(entry) || this.#downloadOf(entry)?.state === 'failed';
    const left = wanted.filter((entry) => !isOver(entry));
    const isRunning = left.length > 0;
    this.#startAll.hidden = isRunning || this.#open.length === 0;
    find(this.#all, 'p').hidden = this.#startAll.hidden;
    setText(find(this.#startAll, 'span'), text('links.downloadAll', { n: this.#open.length }));
    this.#progress.hidden = wanted.length === 0;
    byId('all-stop').hidden = !isRunning;
    const done = wanted.filter(isDone).length;
    setText(find(this.#progress, 'h2'), text('links.saved', { n: done, count: wanted.length }));
    find(this.#progress, '.bar').style.setProperty('--share', String(done / (wanted.length || 1)));
    setText(find(this.#progress, 'p'), isRunning ? this.#pace(left) : '');
  }

  /** How it goes on: three at a time, and how long it takes if that is known. */
  #pace(/** @type {Entry[]} */ left) {
    const rest = left.map((entry) => {
      const download = this.#downloadOf(entry);
      const bytes = download?.transfer?.totalBytes ?? download?.wanted.bytes;
      return bytes === undefined ? undefined : bytes - (download?.transfer?.receivedBytes ?? 0);
    });
    const speeds = left.map((entry) => this.#downloadOf(entry)?.transfer?.measureSpeed() ?? 0);
    const speed = speeds.reduce((sum, each) => sum + each, 0);
    const bytes = rest.reduce((/** @type {number} */ sum, each) => sum + (each ?? 0), 0);
    const isKnown = speed > 0 && rest.every((each) => each !== undefined);
    return joined([
      text('links.three'),
      isKnown && text('links.left', { time: formatSeconds(bytes / speed) }),
    ]);
  }

  /** @returns {import('./row.js').Shown} */
  #shown(/** @type {Entry} */ entry) {
    const { info, problem, wait, link } = entry;
    const download = this.#downloadOf(entry);
    if (download && !(download.state === 'failed' && download.problem === undefined)) {
      const state = shown(download);
      return { ...state, state: joined([state.tone === 'run' && state.suffix, state.state]) };
    }
    if (problem) {
      const act = { icon: 'retry', label: text('problem.retry'), isMain: true };
      return { tone: 'bad', icon: 'warn', state: userMessage(problem).title, act };
    }
    if (entry.looking) {
      if (wait) return { tone: 'wait', icon: 'clock', state: reasonFor(wait) };
      return { tone: 'busy', icon: 'spin', state: text('video.lookingUp') };
    }
    if (entry.isWanted) return { tone: 'wait', icon: 'clock', state: text('row.next') };
    const duration = info?.duration ?? link.duration;
    const spoken = info && chosenIn(info, 'audioLanguages');
    const hasSubtitles = info && this.#kind === 'video' && chosenIn(info, 'subtitles');
    const facts = [
      hostOf(link.url),
      duration != null && formatDuration(Math.round(duration)),
      info && this.#wanted(info)?.extension.toUpperCase(),
      spoken && nameOf(spoken),
      hasSubtitles && text('spoken.subtitled'),
    ];
    const act = { icon: 'down', label: text('choice.download'), isMain: true };
    if (info && this.#wanted(info) === undefined)
      return { tone: 'bad', icon: 'warn', state: text('video.nothing') };
    return { tone: 'ready', state: joined(facts), act };
  }
}
