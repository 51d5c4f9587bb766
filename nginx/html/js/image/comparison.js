import { byId, find } from '../dom.js';

/** The image before and after, with a line between them that can be moved. */
export class Comparison {
  #frame = byId('image-comparison');
  #before = find(this.#frame, '.comparison-before');
  #after = find(this.#frame, '.comparison-after');
  #range = find(this.#frame, '.comparison-range');
  #current;

  constructor() {
    this.#range.addEventListener('input', () => this.#moveTo(Number(this.#range.value)));
    this.#frame.addEventListener('pointerdown', (event) => {
      if (!this.#isComparing || event.button !== 0) return;
      event.preventDefault();
      this.#frame.setPointerCapture(event.pointerId);
      this.#range.focus({ preventScroll: true, focusVisible: false });
      this.#follow(event);
    });
    this.#frame.addEventListener('pointermove', (event) => {
      if (this.#frame.hasPointerCapture(event.pointerId)) this.#follow(event);
    });
  }

  get #isComparing() {
    return this.#frame.classList.contains('is-done') && !this.#before.hidden;
  }

  /**
   * Shows an image as it was given; the frame takes its shape.
   * @returns its size in pixels, or undefined where this browser cannot show it, or another one came meanwhile
   */
  async showBefore(url) {
    this.clear();
    this.#current = url;
    const image = new Image();
    image.src = url;
    try {
      await image.decode();
    } catch {
      // Not an image for this browser; the server decides whether it is one.
      return undefined;
    }
    if (this.#current !== url) return undefined;
    const { naturalWidth: width, naturalHeight: height } = image;
    this.#before.src = url;
    this.#before.hidden = false;
    this.#setRatio(width / height);
    this.#frame.hidden = false;
    return { width, height };
  }

  /** @param bitmap the cut-out as it will be saved, but for its background; it is used up */
  showAfter(bitmap) {
    this.#setRatio(bitmap.width / bitmap.height);
    this.#after.width = bitmap.width;
    this.#after.height = bitmap.height;
    this.#after.getContext('bitmaprenderer').transferFromImageBitmap(bitmap);
    this.#after.hidden = false;
    this.#frame.hidden = false;
    this.#frame.classList.add('is-done');
    this.#frame.classList.toggle('has-before', !this.#before.hidden);
    this.#range.disabled = this.#before.hidden;
  }

  /** @param css `transparent`, a colour, or an image as a CSS value */
  setBackground({ colour, picture }) {
    this.#after.style.backgroundColor = colour ?? '';
    this.#after.style.backgroundImage = picture ? `url("${picture}")` : '';
  }

  clear() {
    this.#current = undefined;
    this.#before.removeAttribute('src');
    this.#before.hidden = true;
    this.#after.hidden = true;
    this.#frame.hidden = true;
    this.#frame.classList.remove('is-done', 'has-before');
    this.#range.disabled = true;
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
