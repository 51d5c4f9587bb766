import { byId, find } from '../dom.js';
import { formatPercent } from '../format.js';
import { text } from '../texts.js';

/** The image before and after, with a line between them that can be moved. */
export class Comparison {
  #frame = byId('image-comparison');
  #before = find(this.#frame, '.comparison-before');
  #after = find(this.#frame, '.comparison-after');
  #range = find(this.#frame, '.comparison-range');
  #original = byId('image-original');
  #zoom = byId('image-zoom');
  #controls = byId('image-controls');
  #isPaused = false;
  #current;

  /** @param onZoom called when the cut-out is shown at its full size, or no longer */
  constructor(onZoom) {
    this.#original.addEventListener('pointerdown', () => this.#holdOriginal(true));
    this.#original.addEventListener('keydown', ({ key }) => {
      if (key === ' ' || key === 'Enter') this.#holdOriginal(true);
    });
    for (const event of ['pointerup', 'pointercancel', 'pointerleave', 'blur', 'keyup']) {
      this.#original.addEventListener(event, () => this.#holdOriginal(false));
    }
    this.#zoom.textContent = formatPercent(1);
    this.#zoom.addEventListener('click', () => {
      this.#setZoom(!this.isZoomed);
      onZoom();
    });
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
    return this.#frame.classList.contains('is-done') && !this.#before.hidden && !this.#isPaused;
  }

  /** Shows the original image, if this browser can, and adapts the frame's shape. */
  async showBefore(url) {
    this.clear();
    this.#current = url;
    const image = new Image();
    image.src = url;
    try {
      await image.decode();
    } catch {
      // This browser can't decode the image; the server decides whether it is one.
      return;
    }
    if (this.#current !== url) return;
    this.#before.src = url;
    this.#before.hidden = false;
    this.#setRatio(image.naturalWidth / image.naturalHeight);
    this.#frame.hidden = false;
  }

  /**
   * @param bitmap the cut-out as it will be saved, without its background; it is consumed
   * @param size `{ width, height }` of the whole image
   */
  showAfter(bitmap, size) {
    this.#setRatio(bitmap.width / bitmap.height);
    this.#frame.style.setProperty('--full-width', `${size.width / devicePixelRatio}px`);
    this.#after.width = bitmap.width;
    this.#after.height = bitmap.height;
    this.#draw(bitmap, 0, 0);
    this.#after.hidden = false;
    this.#frame.hidden = false;
    this.#frame.classList.add('is-done');
    this.#frame.classList.toggle('has-before', !this.#before.hidden);
    this.#range.disabled = this.#before.hidden;
    this.#original.hidden = this.#before.hidden;
    this.#controls.hidden = false;
  }

  /** Replaces a part of the cut-out; the bitmap is consumed. */
  showPart({ bitmap, left, top }) {
    this.#draw(bitmap, left, top);
  }

  #draw(bitmap, left, top) {
    const context = this.#after.getContext('2d');
    context.clearRect(left, top, bitmap.width, bitmap.height);
    context.drawImage(bitmap, left, top);
    bitmap.close();
  }

  /** Shows only the cut-out while it is being painted on. */
  pause(isPaused) {
    this.#isPaused = isPaused;
    this.#range.hidden = isPaused;
    this.#reveal();
  }

  /** Reveals the whole result; people compare afterwards. */
  #reveal() {
    this.#range.value = '0';
    this.#moveTo(0);
  }

  /** Shows the original image while a button is held. */
  #holdOriginal(isHeld) {
    this.#frame.classList.toggle('shows-original', isHeld);
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
    this.#reveal();
    this.#controls.hidden = true;
    this.#setZoom(false);
  }

  /** Whether the cut-out is shown at its full size. */
  get isZoomed() {
    return this.#zoom.getAttribute('aria-pressed') === 'true';
  }

  #setZoom(isZoomed) {
    this.#zoom.setAttribute('aria-pressed', String(isZoomed));
    this.#frame.classList.toggle('is-zoomed', isZoomed);
    byId('image-stage').classList.toggle('is-zoomed', isZoomed);
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
    this.#range.setAttribute(
      'aria-valuetext',
      text('image.comparePercent', { percent: formatPercent(percent / 100) }),
    );
  }
}
