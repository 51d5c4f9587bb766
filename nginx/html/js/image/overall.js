import { byId, find, setText } from '../dom.js';
import { formatSeconds } from '../format.js';
import { joined, text } from '../texts.js';

/** How far several images are, and when they will all be done. */
export class Overall {
  #line = byId('image-overall');
  #queue;
  #timer = 0;

  constructor(/** @type {import('../request-queue.js').RequestQueue} */ queue) {
    this.#queue = queue;
  }

  show(/** @type {import('./queued-image.js').QueuedImage[]} */ items) {
    clearTimeout(this.#timer);
    const left = items.filter(({ isOver }) => !isOver);
    this.#line.hidden = items.length < 2 || left.length === 0;
    if (this.#line.hidden) return;
    const done = items.filter(({ state }) => state === 'done').length;
    setText(find(this.#line, 'b'), text('image.progress', { n: done, count: items.length }));
    find(this.#line, '.bar').style.setProperty('--share', String(done / items.length));
    const next = left.find(({ wait }) => wait?.why === 'limit')?.wait;
    const nextSeconds = next?.why === 'limit' ? Math.ceil((next.until - Date.now()) / 1000) : 0;
    const minutes = Math.ceil(left.length / this.#queue.imagesPerMinute) - (nextSeconds > 0 ? 0 : 1);
    const facts = joined([
      nextSeconds > 0 && text('image.nextIn', { time: formatSeconds(nextSeconds) }),
      minutes > 0 && text('image.minutes', { time: formatSeconds(minutes * 60) }),
    ]);
    setText(find(this.#line, '.soft'), facts);
    if (nextSeconds > 0) this.#timer = setTimeout(() => this.show(items), 1000);
  }
}
