import { pause } from '../pause.js';
import { isAbort, RequestFailed } from '../problem.js';
import { removeBackground } from './upload.js';

/** One image on its way. `state` is `waiting`, `uploading`, `working`, `done`, `failed` or `cancelled`. */
export class QueuedImage {
  state = 'waiting';
  /** 0-1, of the upload */
  progress = 0;
  /** While it waits for the limit: `performance.now()` of when it goes on. */
  waitsUntil;
  /** The untuned cut-out, a PNG. */
  png;
  isSaved = false;
  /** Of the brush, those that count and those that were undone; see brush.js. */
  strokes = [];
  undone = [];
  error;
  abort = new AbortController();

  /** @param kept `{ id, png, strokes }` of a finished image that this tab has kept */
  constructor(file, kept) {
    this.id = kept?.id ?? `${Date.now()}-${Math.random()}`;
    this.file = file;
    this.url = URL.createObjectURL(file);
    if (kept) Object.assign(this, { png: kept.png, strokes: kept.strokes, state: 'done' });
  }

  get isOver() {
    return this.state === 'done' || this.state === 'failed' || this.state === 'cancelled';
  }

  /** The name of its cut-out's file, which is never the name of the image itself. */
  nameFor(extension) {
    return `${this.file.name.replace(/\.[^.]*$/, '') || 'image'}-cutout.${extension}`;
  }
}

/**
 * Sends images one at a time, and lets them wait by themselves where the limit per
 * minute is reached.
 */
export class Queue {
  #items = [];
  #running = false;
  #quota;
  #onChange;

  /** @param onChange called with the item that changed */
  constructor(quota, onChange) {
    this.#quota = quota;
    this.#onChange = onChange;
  }

  add(item) {
    this.#items.push(item);
    void this.#run();
  }

  /** Sends one again that failed or was cancelled. */
  retry(item) {
    item.abort = new AbortController();
    item.error = undefined;
    this.#set(item, { state: 'waiting' });
    this.add(item);
  }

  cancel(item) {
    item.abort.abort();
    this.#items = this.#items.filter((other) => other !== item);
    if (!item.isOver) this.#set(item, { state: 'cancelled', waitsUntil: undefined });
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) {
      await this.#send(item);
    }
    this.#running = false;
  }

  async #send(item) {
    const { signal } = item.abort;
    try {
      await this.#waitForTurn(item, this.#quota.waitMs);
      this.#set(item, { state: 'uploading', progress: 0 });
      const png = await removeBackground(item.file, {
        signal,
        onProgress: (progress) => this.#set(item, { progress }),
        onUploaded: () => this.#set(item, { state: 'working' }),
        onHeaders: (header) => this.#quota.update(header),
      });
      this.#set(item, { state: 'done', png });
    } catch (error) {
      if (isAbort(error)) return;
      const { code, retryAfterSeconds } = error instanceof RequestFailed ? error.problem : {};
      if (code !== 'rate_limited') {
        this.#set(item, { state: 'failed', error });
        return;
      }
      await this.#waitForTurn(item, (retryAfterSeconds ?? 5) * 1000).then(
        () => this.#items.unshift(item),
        () => undefined, // given up meanwhile
      );
    }
  }

  async #waitForTurn(item, waitMs) {
    if (waitMs > 0) {
      this.#set(item, { state: 'waiting', waitsUntil: performance.now() + waitMs });
      await pause(waitMs, item.abort.signal);
      this.#set(item, { waitsUntil: undefined });
    }
    item.abort.signal.throwIfAborted();
  }

  #set(item, values) {
    Object.assign(item, values);
    this.#onChange(item);
  }
}
