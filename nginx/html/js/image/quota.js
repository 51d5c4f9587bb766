import { byId, make } from '../dom.js';
import { text } from '../texts.js';

/** Reads `"name"; r=4; t=12` of the RateLimit headers (IETF draft 8). */
function parseRateLimit(header) {
  if (!header) return undefined;
  const parameters = new Map(
    header
      .split(',')[0]
      .split(';')
      .slice(1)
      .map((part) => part.trim().split('=')),
  );
  const number = (name) => (parameters.has(name) ? Number(parameters.get(name)) : undefined);
  return {
    remaining: number('r'),
    resetSeconds: number('t'),
    limit: number('q'),
    windowSeconds: number('w'),
  };
}

/** Tracks how many images may still be sent, based on the last response's headers. */
export class Quota {
  #line = byId('image-quota');
  #limit;
  #remaining;
  #freeAt = 0;
  #timers = [];

  /** Milliseconds until the next image may be sent, according to the last response. */
  get waitMs() {
    return this.#remaining === 0 ? Math.max(0, this.#freeAt - performance.now()) : 0;
  }

  /** @param header returns a response header by name */
  update(header) {
    const policy = parseRateLimit(header('RateLimit-Policy'));
    const state = parseRateLimit(header('RateLimit'));
    if (state?.remaining === undefined) return;
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#limit = policy?.limit;
    this.#remaining = state.remaining;
    // `t` is the time until one more is available; after a full window all are.
    const nextMs = (state.resetSeconds ?? 60) * 1000;
    this.#freeAt = performance.now() + nextMs;
    this.#show();
    this.#timers = [
      setTimeout(() => this.#free(this.#remaining + 1), nextMs),
      setTimeout(() => this.#free(this.#limit), (policy?.windowSeconds ?? 60) * 1000),
    ];
  }

  #free(remaining) {
    if (remaining === undefined) return;
    this.#remaining = Math.min(remaining, this.#limit ?? remaining);
    this.#show();
  }

  #show() {
    const limit = this.#limit ?? this.#remaining;
    const pips = make('span', { className: 'pips', ariaHidden: 'true' });
    if (limit <= 10) {
      for (let index = 0; index < limit; index++) {
        pips.append(make('span', { className: index < this.#remaining ? 'pip left' : 'pip' }));
      }
    }
    this.#line.hidden = false;
    this.#line.replaceChildren(pips, text('image.left', { left: this.#remaining, n: limit }));
  }
}
