import { setAccessKeyCookie, withAccessKey } from '../access-key.js';
import { startDownload } from '../dom.js';
import { isAbort, problemOf, request, RequestFailed } from '../problem.js';
import { FileTarget, freeFile, MemoryTarget } from './save-targets.js';
import { sizeOf, Transfer } from './transfer.js';

/** @typedef {import('../request-queue.js').Wait} Wait */
/**
 * @typedef {object} Wanted
 * @property {string} href
 * @property {string} title of the video
 * @property {string} name of the choice, for example “Sound only”
 * @property {string} extension
 * @property {number | undefined} bytes
 * @property {boolean} isExact
 */
/** @typedef {'preparing' | 'waiting' | 'running' | 'saved' | 'started' | 'failed' | 'cancelled'} State */
/**
 * @typedef {object} Options
 * @property {boolean} isClick whether someone waits for it
 * @property {FileSystemFileHandle} [file] that the user chose
 * @property {FileSystemDirectoryHandle} [folder]
 */

/** More is left to the browser: pages have little memory on phones. */
const maxMemoryBytes = 64e6;
/** How long a stream of the browser is taken to run if its size is unknown, and at least. */
const browserStreamMs = 20_000;
/** Bytes per second, measured in the last download. */
let lastSpeed = 2e6;

/**
 * One download, from the click to the saved file. The page writes it into a file if the browser
 * allows that, keeps small ones in memory until they are complete, and leaves others to the browser.
 */
export class Download {
  /** @type {State} */
  state = 'preparing';
  /** @type {Wait | undefined} */
  wait;
  /** @type {import('../problem.js').Problem | undefined} */
  problem;
  /** @type {Transfer | undefined} */
  transfer;
  /** The name of the file that the user chose. @type {string | undefined} */
  savedAs;
  /** @type {FileTarget | MemoryTarget | undefined} */
  #target;
  #abort = new AbortController();
  #queue;
  #onChange;

  /**
   * @param {Wanted} wanted @param {import('../request-queue.js').RequestQueue} queue
   * @param {(download: Download) => void} onChange called after each change of state
   */
  constructor(wanted, queue, onChange) {
    this.wanted = wanted;
    this.#queue = queue;
    this.#onChange = onChange;
  }

  get isActive() {
    return this.state === 'preparing' || this.state === 'waiting' || this.state === 'running';
  }

  /** Downloads, or continues what has failed. */
  async start(/** @type {Options} */ options) {
    this.#abort = new AbortController();
    this.problem = undefined;
    this.#set('preparing');
    const { signal } = this.#abort;
    const onWait = (/** @type {Wait | undefined} */ wait) => {
      this.wait = wait;
      this.#set(wait ? 'waiting' : 'running');
    };
    try {
      await this.#queue.run('stream', () => this.#send(options), {
        signal,
        isClick: options.isClick,
        onWait,
      });
    } catch (error) {
      if (!this.transfer?.canResume || isAbort(error)) await this.#discard();
      if (!isAbort(error)) this.problem = problemOf(error);
      this.#set(isAbort(error) ? 'cancelled' : 'failed');
    }
  }

  /** Stops a download and removes its incomplete file. */
  async cancel() {
    if (this.isActive) this.#abort.abort();
    else await this.#discard();
  }

  async #send(/** @type {Options} */ options) {
    const { bytes = Infinity } = this.wanted;
    const isOurs = options.file ?? options.folder ?? (bytes <= maxMemoryBytes || undefined);
    if (isOurs === undefined) return this.#leaveToBrowser();
    this.transfer ??= new Transfer(this.wanted.href);
    const { transfer } = this;
    await transfer.run(
      async (name) => (this.#target ??= await this.#openTarget(options, name)),
      this.#abort.signal,
    );
    await this.#target?.finish();
    lastSpeed = transfer.measureSpeed() || lastSpeed;
    if (this.#target instanceof FileTarget) this.savedAs = this.#target.fileName;
    return this.#set('saved');
  }

  async #openTarget(/** @type {Options} */ { file, folder }, /** @type {string | undefined} */ serverName) {
    const name = serverName ?? this.suggestedName;
    const handle = file ?? (folder && (await freeFile(folder, name)));
    return handle ? new FileTarget(handle) : new MemoryTarget(name);
  }

  /** Asks first, because a refusal would be saved as a file. */
  async #leaveToBrowser() {
    const { href } = this.wanted;
    const response = await this.#head();
    const { bytes } = sizeOf((name) => response.headers.get(name));
    setAccessKeyCookie(href);
    startDownload(href);
    const expectedMs = bytes === undefined ? 0 : (bytes / lastSpeed) * 1000;
    this.#queue.leaveToBrowser(Math.max(browserStreamMs, expectedMs));
    this.#set('started');
  }

  /** A response to HEAD has no body. If the refusal is final, GET says why. */
  async #head() {
    const options = { headers: withAccessKey(), signal: this.#abort.signal };
    try {
      return await request(this.wanted.href, { ...options, method: 'HEAD' });
    } catch (error) {
      const { status = 0 } = error instanceof RequestFailed ? error.problem : {};
      if (status < 400 || status >= 500 || status === 429) throw error;
      const response = await request(this.wanted.href, options);
      await response.body?.cancel();
      throw error;
    }
  }

  /** A name for the user to change; the server's own arrives only with the file. */
  get suggestedName() {
    const { title, extension } = this.wanted;
    const plain = title.replace(/[\p{Cc}\\/:*?"<>|]+/gu, ' ').trim();
    return `${[...plain].slice(0, 120).join('') || 'video'}.${extension}`;
  }

  async #discard() {
    await this.#target?.discard();
    this.#target = undefined;
    this.transfer = undefined;
  }

  #set(/** @type {State} */ state) {
    this.state = state;
    if (state !== 'waiting') this.wait = undefined;
    this.#onChange(this);
  }
}
