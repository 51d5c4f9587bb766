import { ConnectionLost, isAbort, RequestFailed } from './problem.js';
import { Stored } from './stored.js';
import { TokenBucket } from './token-bucket.js';

/** @typedef {'lookup' | 'stream' | 'image'} Kind */
/**
 * Why a request waits: a limit or its own retry (until a time, `Date.now()`), other streams, those
 * before it, or the connection.
 * @typedef {{ why: 'limit', until: number } | { why: 'streams', count: number } | { why: 'turn' } | { why: 'connection' }} Wait
 */
/**
 * @typedef {object} Options
 * @property {AbortSignal} signal
 * @property {boolean} [isClick] whether someone waits for it; others leave room for clicks
 * @property {(wait: Wait | undefined) => void} [onWait] called when the reason changes, and with
 *   undefined when the request is sent
 */
/**
 * @typedef {Options & {
 *   kind: Kind, send: () => Promise<unknown>, resolve: (value: any) => void,
 *   reject: (error: unknown) => void, notBefore: number, startedAt: number, failures: number, outages: number,
 * }} Job
 */

const storageName = 'requests';
/** @type {Stored<{ tokens?: number, at?: number, images?: number[] }>} */
const stored = new Stored('localStorage', storageName, {});
const services = /** @type {const} */ ({ lookup: 'video-dl', stream: 'video-dl', image: 'bg-removal' });
const maxLookups = 4;
/** Of the video requests; background work leaves them for clicks. */
const reservedTokens = 2;
const imageWindowMs = 60_000;
const refusalDelaysMs = [2000, 4000, 8000, 16_000, 30_000];
/** When the server refuses a stream although requests are left, others of this network have them all. */
const streamDelaysMs = [10_000, 20_000, 40_000, 60_000];
const failureDelaysMs = [2000, 8000, 30_000];
/** After an outage that the health report denies. */
const outageDelaysMs = [1000, 2000, 4000];
/** A request that ran for so long failed anew. */
const freshMs = 5000;

/**
 * The one queue for everything the page asks the services: look-ups, downloads, images. It keeps
 * within the server's limits, waits by itself, and repeats what was refused or interrupted.
 */
export class RequestQueue {
  /** @type {Job[]} */
  #waiting = [];
  /** @type {Kind[]} */
  #running = [];
  #connection;
  #videos = new TokenBucket(10, 2000);
  #streams = 4;
  #images = 5;
  /** When the last images were sent. @type {number[]} */
  #imageTimes = [];
  /** @type {Record<Kind, number>} */
  #pausedUntil = { lookup: 0, stream: 0, image: 0 };
  /** @type {Record<Kind, number>} */
  #refusals = { lookup: 0, stream: 0, image: 0 };
  /** @type {Kind} */
  #lastKind = 'stream';
  #timer = 0;
  /** @type {() => void} */
  #onPump = () => undefined;

  constructor(/** @type {import('./connection.js').Connection} */ connection) {
    this.#connection = connection;
    this.#restore();
    connection.watch(() => {
      this.#learn(connection.health);
      this.#pump();
    });
    // Another tab has sent something.
    addEventListener('storage', ({ key }) => key === storageName && this.#restore());
  }

  /**
   * Runs `send` once the limits and the connection allow it. Runs it again after a rate limit, an
   * outage, or a failure of the server that may pass.
   * @template T
   * @param {Kind} kind
   * @param {() => Promise<T>} send
   * @param {Options} options
   * @returns {Promise<T>}
   * @throws what `send` throws, if it is final; the signal's reason when that aborts
   */
  run(kind, send, options) {
    return new Promise((resolve, reject) => {
      const job = {
        kind,
        send,
        resolve,
        reject,
        notBefore: 0,
        startedAt: 0,
        failures: 0,
        outages: 0,
        ...options,
      };
      options.signal.addEventListener('abort', () => this.#drop(job), { once: true });
      this.#waiting.push(job);
      this.#pump();
    });
  }

  /** Counts a download that the browser runs: its request, and its stream for a time. */
  leaveToBrowser(/** @type {number} */ milliseconds) {
    this.#videos.take();
    this.#running.push('stream');
    setTimeout(() => this.#ended('stream'), milliseconds);
    this.#store();
  }

  /** Whether something waits for the connection. */
  get hasWaiting() {
    return this.#waiting.some((job) => this.#obstacle(job)?.why === 'connection');
  }

  /** Calls `listener` whenever requests start or wait. */
  watch(/** @type {() => void} */ listener) {
    this.#onPump = listener;
  }

  /** How many images may be sent in a minute. */
  get imagesPerMinute() {
    return this.#images;
  }

  /** Takes over the state that a response about images has (`RateLimit`, IETF draft 8). */
  readImageLimit(/** @type {string | null} */ header) {
    const [, remaining, seconds] = /;\s*r=(\d+);\s*t=(\d+)/.exec(header ?? '') ?? [];
    if (remaining === '0') this.#pausedUntil.image = Date.now() + Number(seconds) * 1000;
  }

  #learn(/** @type {import('./connection.js').Health | undefined} */ health) {
    const { imagesPerMinute } = health?.services['bg-removal']?.limits ?? {};
    if (imagesPerMinute !== undefined) this.#images = imagesPerMinute === 0 ? Infinity : imagesPerMinute;
    if (health?.limits === undefined) return;
    const { videoRequestsPerMinute: perMinute, streamsPerClient } = health.limits;
    // As nginx has it: a third of a minute's requests in one burst.
    const capacity = perMinute === 0 ? Infinity : Math.max(1, Math.floor(perMinute / 3));
    if (capacity !== this.#videos.capacity) this.#videos.resize(capacity, 60_000 / perMinute);
    this.#streams = streamsPerClient;
  }

  #pump() {
    clearTimeout(this.#timer);
    for (let job = this.#next(); job !== undefined; job = this.#next()) void this.#start(job);
    let wakeAt = Infinity;
    for (const job of this.#waiting) {
      const wait = this.#obstacle(job);
      job.onWait?.(wait);
      if (wait?.why === 'limit') wakeAt = Math.min(wakeAt, wait.until);
    }
    this.#onPump();
    if (wakeAt < Infinity)
      this.#timer = setTimeout(() => this.#pump(), Math.max(0, wakeAt - Date.now()) + 20);
  }

  /** Clicks first; then look-ups and downloads take turns. */
  #next() {
    const order = (/** @type {Job} */ { isClick, kind }) => (isClick ? 0 : kind === this.#lastKind ? 2 : 1);
    const inOrder = this.#waiting.toSorted((left, right) => order(left) - order(right));
    return inOrder.find((job) => this.#obstacle(job) === undefined);
  }

  /** @returns {Wait | undefined} */
  #obstacle(/** @type {Job} */ { kind, isClick = false, notBefore }) {
    if (!this.#connection.isUp(services[kind])) return { why: 'connection' };
    const until = Math.max(notBefore, this.#pausedUntil[kind]);
    if (until > Date.now()) return { why: 'limit', until };
    const count = this.#running.filter((each) => each === kind).length;
    if (kind === 'image') return this.#imageObstacle(count);
    if (kind === 'lookup' && count >= maxLookups) return { why: 'turn' };
    const streams = isClick ? this.#streams : Math.max(1, this.#streams - 1);
    if (kind === 'stream' && count >= streams) return { why: 'streams', count };
    const needed = isClick ? 1 : 1 + Math.min(reservedTokens, this.#videos.capacity - 1);
    // A fraction of a token is lost in rounding.
    if (this.#videos.tokens > needed - 0.01) return undefined;
    return { why: 'limit', until: this.#videos.readyAt(needed) };
  }

  /** @returns {Wait | undefined} */
  #imageObstacle(/** @type {number} */ running) {
    if (running > 0) return { why: 'turn' };
    const recent = this.#imageTimes.filter((time) => Date.now() - time < imageWindowMs);
    this.#imageTimes = recent;
    if (recent.length < this.#images) return undefined;
    return { why: 'limit', until: (recent.at(-this.#images) ?? 0) + imageWindowMs };
  }

  async #start(/** @type {Job} */ job) {
    const { kind } = job;
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#running.push(kind);
    if (!job.isClick) this.#lastKind = kind;
    if (kind === 'image') this.#imageTimes.push(Date.now());
    else this.#videos.take();
    this.#store();
    job.startedAt = Date.now();
    job.onWait?.(undefined);
    try {
      job.resolve(await job.send());
      this.#refusals[kind] = 0;
      // A stream has ended, so another one is allowed.
      if (kind === 'stream') this.#pausedUntil.stream = 0;
    } catch (error) {
      if (kind === 'image' && isUncounted(error)) this.#imageTimes.pop();
      if (!job.signal.aborted && !isAbort(error) && this.#comesBack(job, error)) this.#waiting.unshift(job);
      else job.reject(error);
    } finally {
      this.#ended(kind);
    }
  }

  #ended(/** @type {Kind} */ kind) {
    this.#running.splice(this.#running.indexOf(kind), 1);
    this.#pump();
  }

  #drop(/** @type {Job} */ job) {
    const index = this.#waiting.indexOf(job);
    if (index === -1) return; // `send` notices the signal itself
    this.#waiting.splice(index, 1);
    job.reject(job.signal.reason);
    this.#pump();
  }

  /** Whether a failed request is sent again, and when. */
  #comesBack(/** @type {Job} */ job, /** @type {unknown} */ error) {
    const { status, code, retryAfterSeconds, retryable } =
      error instanceof RequestFailed ? error.problem : {};
    if (status === 429 || code === 'overloaded') {
      this.#pause(job.kind, retryAfterSeconds);
      return true;
    }
    if (isOutage(error)) {
      this.#connection.suspect();
      return this.#isLater(job, 'outages', outageDelaysMs);
    }
    const mayPass = status !== undefined && status >= 500 && status !== 503 && retryable !== false;
    const isWatched = job.isClick && job.kind === 'lookup';
    return mayPass && !isWatched && this.#isLater(job, 'failures', failureDelaysMs);
  }

  /** @param {Job} job @param {'failures' | 'outages'} count @param {number[]} delays */
  #isLater(job, count, delays) {
    if (Date.now() - job.startedAt > freshMs) job[count] = 0;
    const delay = delays[job[count]];
    job[count] += 1;
    job.notBefore = Date.now() + (delay ?? 0);
    return delay !== undefined;
  }

  /** The server refused a request because of a limit. */
  #pause(/** @type {Kind} */ kind, /** @type {number | undefined} */ seconds) {
    const count = this.#refusals[kind]++;
    const hasOwnLimit = kind === 'stream' && this.#videos.tokens >= 1;
    const delays = hasOwnLimit ? streamDelaysMs : refusalDelaysMs;
    const delay = delays[Math.min(count, delays.length - 1)] ?? 0;
    const until = Date.now() + (hasOwnLimit || !seconds ? delay : seconds * 1000);
    if (kind === 'image' || hasOwnLimit) {
      this.#pausedUntil[kind] = until;
      return;
    }
    this.#videos.empty();
    this.#pausedUntil.lookup = this.#pausedUntil.stream = until;
  }

  #store() {
    // Without storage, each tab counts for itself; the server's refusals correct it.
    stored.value = { ...this.#videos.level, images: this.#imageTimes };
  }

  #restore() {
    const { tokens, at, images } = stored.value;
    if (tokens !== undefined && at !== undefined) this.#videos.level = { tokens, at };
    if (images !== undefined) this.#imageTimes = images;
  }
}

/** Whether the service doesn't count an image: it never arrived, or was rejected before any work. */
function isUncounted(/** @type {unknown} */ error) {
  const { status = 0 } = error instanceof RequestFailed ? error.problem : {};
  return error instanceof ConnectionLost || (status >= 400 && status < 500 && status !== 429);
}

/** Whether a request failed because the server, or the way to it, is away. */
function isOutage(/** @type {unknown} */ error) {
  if (error instanceof ConnectionLost) return true;
  if (!(error instanceof RequestFailed)) return false;
  const { status = 0, code = '' } = error.problem;
  // The others are about the site of the video, or took too long here.
  return [502, 503, 504].includes(status) && !/^(upstream_|bot_check|timeout)/.test(code);
}
