import { byId, find } from '../dom.js';

/** The image before and after, with a line between them that can be moved. */
export class Comparison {
  #frame = byId('image-comparison');
  #before = find(this.#frame, '.comparison-before');
  #after = find(this.#frame, '.comparison-after');
  #range = find(this.#frame, '.comparison-range');

  constructor() {
    this.#range.addEventListener('input', () => this.#moveTo(Number(this.#range.value)));
    this.#frame.addEventListener('pointerdown', (event) => {
      if (!this.isDone || event.button !== 0) return;
      event.preventDefault();
      this.#frame.setPointerCapture(event.pointerId);
      this.#range.focus({ preventScroll: true, focusVisible: false });
      this.#follow(event);
    });
    this.#frame.addEventListener('pointermove', (event) => {
      if (this.#frame.hasPointerCapture(event.pointerId)) this.#follow(event);
    });
  }

  get isDone() {
    return this.#frame.classList.contains('is-done');
  }

  /** Shows the image as it was sent; the frame takes its shape. False where the browser cannot show it. */
  async showBefore(file) {
    this.clear();
    this.#before.src = URL.createObjectURL(file);
    try {
      await this.#before.decode();
    } catch {
      // Not an image for this browser; the server decides whether it is one.
      this.clear();
      return false;
    }
    this.#setRatio(this.#before.naturalWidth / this.#before.naturalHeight);
    this.#frame.hidden = false;
    return true;
  }

  /** @returns the address of the cut-out, for its download */
  async showAfter(blob) {
    const address = URL.createObjectURL(blob);
    const previous = this.#after.src;
    this.#after.src = address;
    await this.#after.decode();
    if (previous) URL.revokeObjectURL(previous);
    this.#setRatio(this.#after.naturalWidth / this.#after.naturalHeight);
    this.#after.hidden = false;
    this.#frame.hidden = false;
    this.#frame.classList.add('is-done');
    return address;
  }

  clear() {
    for (const image of [this.#before, this.#after]) {
      if (image.src) URL.revokeObjectURL(image.src);
      image.removeAttribute('src');
    }
    this.#after.hidden = true;
    this.#frame.hidden = true;
    this.#frame.classList.remove('is-done');
    this.#range.value = '50';
    this.#moveTo(50);
  }

  #setRatio(ratio) {
    this.#frame.style.setProperty('--ratio', String(ratio));
  }

  #follow({ clientX }) {
    const { left, width } = this.#frame.getBoundingClientRect();
    const percent = Math.min(100, Math.max(0, ((clientX - left) / width) * 100));
    this.#range.value = String(percent);
    this.#moveTo(percent);
  }

  #moveTo(percent) {
    this.#frame.style.setProperty('--position', `${percent}%`);
    this.#range.setAttribute('aria-valuetext', `${Math.round(percent)} % before`);
  }
}
