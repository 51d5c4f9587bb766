/** @typedef {'video-dl' | 'bg-removal'} Service */
/** @typedef {{ imageMaxBytes?: number, imageMaxPixels?: number, imagesPerMinute?: number }} ImageLimits */
/** @typedef {{ status: string, limits?: ImageLimits }} Report */
/** @typedef {{ videoRequestsPerMinute: number, streamsPerClient: number }} Limits see njs/health.js; 0 means no limit */
/** @typedef {{ status: string, services: Partial<Record<Service, Report>>, limits?: Limits }} Health */

const calmMs = 60_000;
/** While something is wrong; the last one repeats. */
const retryDelaysMs = [1000, 2000, 4000, 8000, 15_000];
const timeoutMs = 10_000;

/**
 * Knows whether the server and its services can be used. Asks `/api/health` every minute, and at
 * once after a failed request.
 */
export class Connection {
  isOffline = !navigator.onLine;
  /** The last report; undefined while the server can't be reached. @type {Health | undefined} */
  health;
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #isSuspected = false;
  #hasAsked = false;
  #isAsking = false;
  #attempt = 0;
  #timer = 0;

  constructor() {
    addEventListener('offline', () => {
      this.isOffline = true;
      this.#changed();
    });
    addEventListener('online', () => {
      this.isOffline = false;
      this.suspect();
    });
  }

  /** Calls `listener` after each change. */
  watch(/** @type {() => void} */ listener) {
    this.#listeners.add(listener);
  }

  /** Whether requests to a service make sense now. */
  isUp(/** @type {Service} */ service) {
    if (this.isOffline || this.#isSuspected) return false;
    if (!this.#hasAsked) return true;
    const status = this.health?.services[service]?.status;
    return status === 'ok' || status === 'degraded';
  }

  /** A request failed as if the server were away: find out before anything else is sent. */
  suspect() {
    this.#isSuspected = true;
    this.#attempt = 0;
    this.#changed();
    void this.ask();
  }

  /** Resolves once the health is known, or known to be unknown. */
  async ask() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    clearTimeout(this.#timer);
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      this.health = await (await fetch('api/health', { cache: 'no-store', signal })).json();
      // Some browsers report being offline in a network that only lacks the internet.
      this.isOffline = false;
    } catch {
      this.health = undefined;
      this.isOffline = !navigator.onLine;
    }
    this.#isAsking = false;
    this.#isSuspected = false;
    this.#hasAsked = true;
    const isCalm = this.health !== undefined && this.health.status !== 'error';
    const delay = isCalm ? calmMs : retryDelaysMs[Math.min(this.#attempt, retryDelaysMs.length - 1)];
    this.#attempt = isCalm ? 0 : this.#attempt + 1;
    this.#timer = setTimeout(() => void this.ask(), delay);
    this.#changed();
  }

  #changed() {
    for (const listener of this.#listeners) listener();
  }
}
