import { byId, find, setText } from '../dom.js';
import { formatPercent } from '../format.js';

/** @typedef {import('./cut-out-worker-client.js').Preview} Preview */

/** The picture on the stage: the original until the cut-out is there, then what will be saved. */
export class Comparison {
  #frame = byId('image-comparison');
  #before = find(this.#frame, '.comparison-before', HTMLImageElement);
  #after = find(this.#frame, '.comparison-after', HTMLCanvasElement);
  #original = byId('image-original');
  #zoom = byId('image-zoom');
  #controls = byId('image-controls');
  /** @type {string | undefined} */
  #current;

  /** @param {() => void} onZoom called when the cut-out is shown at its full size, or no longer */
  constructor(onZoom) {
    this.#original.addEventListener('pointerdown', () => this.#holdOriginal(true));
    for (const event of ['pointerup', 'pointercancel', 'pointerleave', 'blur', 'keyup']) {
      this.#original.addEventListener(event, () => this.#holdOriginal(false));
    }
    this.#original.addEventListener('keydown', ({ key }) => {
      if (key === ' ' || key === 'Enter') this.#holdOriginal(true);
    });
    // Space does the same wherever it has no other meaning.
    document.addEventListener('keydown', (event) => {
      if (event.key !== ' ' || event.target !== document.body || document.body.dataset.view !== 'image')
        return;
      event.preventDefault();
      this.#holdOriginal(true);
    });
    document.addEventListener('keyup', () => this.#holdOriginal(false));
    setText(byId('image-zoom-text'), formatPercent(1));
    this.#zoom.addEventListener('click', () => {
      this.#setZoom(!this.isZoomed);
      onZoom();
    });
  }

  /** Shows the original image, if this browser can. */
  async showBefore(/** @type {string} */ url) {
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
    this.#original.hidden = false;
    if (this.#after.hidden) this.#setRatio(image.naturalWidth / image.naturalHeight);
    this.#frame.hidden = false;
  }

  /** @param {Preview} preview it is consumed */
  showAfter({ bitmap, width, height, frame }) {
    this.#setRatio(bitmap.width / bitmap.height);
    const { style } = this.#frame;
    style.setProperty('--full-width', `${frame.width / devicePixelRatio}px`);
    // The original lies behind the part of it that is shown.
    style.setProperty('--before-left', `${(-100 * frame.left) / frame.width}%`);
    style.setProperty('--before-top', `${(-100 * frame.top) / frame.height}%`);
    style.setProperty('--before-width', `${(100 * width) / frame.width}%`);
    style.setProperty('--before-height', `${(100 * height) / frame.height}%`);
    this.#after.width = bitmap.width;
    this.#after.height = bitmap.height;
    this.#draw(bitmap, 0, 0);
    this.#after.hidden = false;
    this.#frame.hidden = false;
    this.#frame.classList.add('is-done');
    this.#original.hidden = this.#before.hidden;
    this.#controls.hidden = false;
  }

  /** Replaces a part of the cut-out; the bitmap is consumed. */
  showPart(/** @type {import('./cut-out-worker-client.js').Painted} */ { bitmap, left, top }) {
    this.#draw(bitmap, left, top);
  }

  #draw(/** @type {ImageBitmap} */ bitmap, /** @type {number} */ left, /** @type {number} */ top) {
    const context = this.#after.getContext('2d');
    context?.clearRect(left, top, bitmap.width, bitmap.height);
    context?.drawImage(bitmap, left, top);
    bitmap.close();
  }

  /** Shows the original image while a button is held. */
  #holdOriginal(/** @type {boolean} */ isHeld) {
    this.#frame.classList.toggle('shows-original', isHeld);
  }

  clear() {
    this.#current = undefined;
    this.#before.removeAttribute('src');
    this.#before.hidden = true;
    this.#after.hidden = true;
    this.#frame.hidden = true;
    this.#frame.classList.remove('is-done');
    this.#controls.hidden = true;
    this.#setZoom(false);
  }

  /** Whether the cut-out is shown at its full size. */
  get isZoomed() {
    return this.#zoom.getAttribute('aria-pressed') === 'true';
  }

  #setZoom(/** @type {boolean} */ isZoomed) {
    this.#zoom.setAttribute('aria-pressed', String(isZoomed));
    this.#frame.classList.toggle('is-zoomed', isZoomed);
    byId('image-stage').classList.toggle('is-zoomed', isZoomed);
  }

  #setRatio(/** @type {number} */ ratio) {
    this.#frame.style.setProperty('--ratio', String(ratio));
  }
}
