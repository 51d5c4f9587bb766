/** @typedef {{ tokens: number, at: number }} Level tokens at a time (`Date.now()`) */

/** A rate limit like nginx's: a burst of `capacity` requests, and one more every `refillMs`. */
export class TokenBucket {
  #capacity;
  #refillMs;
  /** @type {Level} */
  #level;

  /** @param {number} capacity @param {number} refillMs */
  constructor(capacity, refillMs) {
    this.#capacity = capacity;
    this.#refillMs = refillMs;
    this.#level = { tokens: capacity, at: Date.now() };
  }

  /** Infinite for a server without a limit. */
  get capacity() {
    return this.#capacity;
  }

  get tokens() {
    const refilled = (Date.now() - this.#level.at) / this.#refillMs;
    return Math.min(this.#capacity, this.#level.tokens + refilled);
  }

  take() {
    this.#level = { tokens: this.tokens - 1, at: Date.now() };
  }

  /** The server refused a request: it has counted others than ours. */
  empty() {
    if (this.#capacity === Infinity) return;
    this.#level = { tokens: Math.min(0, this.tokens), at: Date.now() };
  }

  /** When there will be so many tokens, as `Date.now()`. */
  readyAt(/** @type {number} */ count) {
    return Date.now() + Math.max(0, count - this.tokens) * this.#refillMs;
  }

  /** For a page that is loaded again, or another tab. */
  get level() {
    return this.#level;
  }

  set level({ tokens, at }) {
    this.#level = { tokens: Math.min(tokens, this.#capacity), at: Math.min(at, Date.now()) };
  }

  /** Takes over the server's limits. */
  resize(/** @type {number} */ capacity, /** @type {number} */ refillMs) {
    const spent = this.#capacity - this.tokens;
    this.#capacity = capacity;
    this.#refillMs = refillMs;
    this.#level = { tokens: Math.max(0, capacity - spent), at: Date.now() };
  }
}
