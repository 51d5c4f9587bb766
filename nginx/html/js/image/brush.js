import { byId, find } from '../dom.js';
import { formatPercent } from '../format.js';
import { text } from '../texts.js';
import { showValue } from './controls.js';

/** @typedef {import('./queued-image.js').QueuedImage} QueuedImage */
/** @typedef {import('./queued-image.js').Stroke} Stroke */
/** @typedef {Omit<Stroke, 'points'> & { points: number[] }} Draft a stroke in progress */
/** @typedef {[x: number, y: number]} Point */

/** Minimum distance between a stroke's points, as a share of its radius. */
const spacing = 0.1;
/** How far an arrow key moves the brush, as a share of its size. */
const keyStep = 0.25;
/** @type {Record<string, number[]>} */
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Erases parts of the cut-out and restores parts of the original: by mouse, finger, pen (whose
 * pressure sets the width) or keyboard. A stroke is stored as points, so undo needs no memory
 * for pixels.
 */
export class Brush {
  #frame = byId('image-comparison');
  #stage = byId('image-stage');
  #ring = find(this.#frame, '.brush-ring');
  #open = byId('image-retouch');
  #form = byId('image-brush', HTMLFormElement);
  #sizeSlider = byId('brush-size', HTMLInputElement);
  #hardness = byId('brush-hardness', HTMLInputElement);
  #undo = byId('brush-undo', HTMLButtonElement);
  #handlers;
  /** @type {QueuedImage | undefined} */
  #item;
  /** Pixels of the whole image. */
  #imageWidth = 0;
  /** The one in progress. @type {Draft | undefined} */
  #stroke;
  /** How many of its point values are already drawn. */
  #drawn = 0;
  #isDrawing = false;
  /** Position of the brush in CSS pixels inside the frame. @type {Point | undefined} */
  #position;
  /** @type {Map<number, PointerEvent>} */
  #pointers = new Map();

  /**
   * @param {object} handlers
   * @param {(isOpen: boolean) => void} handlers.onToggle
   * @param {(stroke: Stroke, points: Float32Array, isLast: boolean) => Promise<void>} handlers.onPaint resolves once they are drawn
   * @param {() => void} handlers.onRedraw called after undo
   * @param {(item: QueuedImage) => void} handlers.onChange called after the item's strokes have changed
   */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#open.addEventListener('click', () => this.#toggle(!this.isOpen));
    byId('brush-done').addEventListener('click', () => this.#toggle(false));
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    this.#form.addEventListener('input', () => this.#showValues());
    this.#undo.addEventListener('click', () => this.#undoLast());
    this.#frame.addEventListener('pointerdown', (event) => this.#down(event));
    this.#frame.addEventListener('pointermove', (event) => this.#moved(event));
    for (const name of /** @type {const} */ (['pointerup', 'pointercancel'])) {
      this.#frame.addEventListener(name, (event) => this.#up(event));
    }
    this.#frame.addEventListener('pointerleave', () => (this.#ring.hidden = true));
    this.#frame.addEventListener('keydown', (event) => this.#keyDown(event));
    this.#frame.addEventListener('keyup', ({ key }) => {
      if (key === ' ' || key === 'Enter') this.#end();
    });
    this.#frame.addEventListener('blur', () => this.#end());
    byId('image-work').addEventListener('keydown', (event) => this.#shortcut(event));
    this.#showValues();
  }

  get isOpen() {
    return !this.#form.hidden;
  }

  /** Switches painting to this item. */
  use(/** @type {QueuedImage} */ item, /** @type {number} */ imageWidth) {
    if (this.#item !== item) this.#cancel();
    this.#item = item;
    this.#imageWidth = imageWidth;
    this.#showUndo();
  }

  close() {
    if (this.isOpen) this.#toggle(false);
  }

  #toggle(/** @type {boolean} */ isOpen) {
    this.#cancel();
    this.#form.hidden = !isOpen;
    this.#open.setAttribute('aria-pressed', String(isOpen));
    this.#frame.classList.toggle('is-painting', isOpen);
    this.#ring.hidden = true;
    if (isOpen) {
      this.#frame.setAttribute('role', 'application');
      this.#frame.setAttribute('aria-label', text('brush.area'));
      this.#frame.tabIndex = 0;
    } else {
      for (const name of ['role', 'aria-label', 'tabindex']) this.#frame.removeAttribute(name);
    }
    this.#handlers.onToggle(isOpen);
    if (isOpen) this.#frame.focus({ preventScroll: true });
  }

  #down(/** @type {PointerEvent} */ event) {
    if (!this.isOpen || event.button !== 0) return;
    event.preventDefault();
    this.#frame.setPointerCapture(event.pointerId);
    this.#frame.focus({ preventScroll: true });
    this.#pointers.set(event.pointerId, event);
    if (this.#pointers.size > 1) this.#cancel();
    else this.#begin(this.#inFrame(event), event);
  }

  #moved(/** @type {PointerEvent} */ event) {
    if (!this.isOpen) return;
    const before = this.#pointers.get(event.pointerId);
    if (before !== undefined) this.#pointers.set(event.pointerId, event);
    if (this.#pointers.size > 1 && before !== undefined) {
      // Each finger moves the image by half of its way.
      this.#stage.scrollBy((before.clientX - event.clientX) / 2, (before.clientY - event.clientY) / 2);
      return;
    }
    if (event.pointerType !== 'touch' || before !== undefined) this.#showRing(this.#inFrame(event));
    if (this.#stroke === undefined || before === undefined) return;
    const events = event.getCoalescedEvents?.() ?? [];
    for (const each of events.length > 0 ? events : [event]) this.#add(this.#inFrame(each), each);
    void this.#draw();
  }

  #up(/** @type {PointerEvent} */ event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    if (event.type === 'pointercancel') this.#cancel();
    else this.#end();
  }

  #keyDown(/** @type {KeyboardEvent} */ event) {
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = arrows[event.key];
    const isBrush = event.key === ' ' || event.key === 'Enter';
    if (arrow === undefined && !isBrush) return;
    event.preventDefault();
    const { width, height } = this.#frame.getBoundingClientRect();
    const [x, y] = this.#position ?? [width / 2, height / 2];
    const step = Math.max(1, this.#size * keyStep);
    const [dx, dy] = arrow ?? [0, 0];
    /** @type {Point} */
    const moved = [Math.min(width, Math.max(0, x + dx * step)), Math.min(height, Math.max(0, y + dy * step))];
    this.#showRing(moved);
    this.#ring.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (isBrush && this.#stroke === undefined) this.#begin(moved);
    else if (this.#stroke !== undefined) this.#add(moved);
    void this.#draw();
  }

  #shortcut(/** @type {KeyboardEvent} */ event) {
    if (!this.isOpen || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return;
    event.preventDefault();
    this.#undoLast();
  }

  /** @returns {Point} */
  #inFrame(/** @type {MouseEvent} */ { clientX, clientY }) {
    const { left, top } = this.#frame.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  get #size() {
    return this.#sizeSlider.valueAsNumber;
  }

  #begin(/** @type {Point} */ position, /** @type {PointerEvent | undefined} */ event = undefined) {
    this.#stroke = {
      id: `${Date.now()}-${Math.random()}`,
      erases: new FormData(this.#form).get('mode') === 'erase',
      hardness: this.#hardness.valueAsNumber / 100,
      points: [],
    };
    this.#drawn = 0;
    this.#add(position, event);
    void this.#draw();
  }

  /** Adds a point in pixels of the image, and the radius there. */
  #add(/** @type {Point} */ [x, y], /** @type {PointerEvent | undefined} */ event = undefined) {
    if (this.#stroke === undefined) return;
    const scale = this.#imageWidth / this.#frame.getBoundingClientRect().width;
    const pressure = event?.pointerType === 'pen' ? 0.3 + 0.7 * event.pressure : 1;
    const radius = (this.#size / 2) * scale * pressure;
    const { points } = this.#stroke;
    const [lastX, lastY] = points.slice(-3);
    if (points.length > 0 && Math.hypot(x * scale - lastX, y * scale - lastY) < radius * spacing) return;
    points.push(x * scale, y * scale, radius);
  }

  /** Draws new points, one batch after the other; slow machines draw larger batches. */
  async #draw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    while (this.#stroke !== undefined && this.#drawn < this.#stroke.points.length) {
      const stroke = this.#stroke;
      const points = Float32Array.from(stroke.points.slice(Math.max(0, this.#drawn - 3)));
      this.#drawn = stroke.points.length;
      await this.#handlers.onPaint({ ...stroke, points }, points, false);
    }
    this.#isDrawing = false;
  }

  #end() {
    if (this.#stroke === undefined || this.#item === undefined) return;
    const stroke = { ...this.#stroke, points: Float32Array.from(this.#stroke.points) };
    this.#stroke = undefined;
    void this.#handlers.onPaint(stroke, stroke.points, true);
    this.#setStrokes([...this.#item.strokes, stroke]);
  }

  #cancel() {
    if (this.#stroke === undefined) return;
    this.#stroke = undefined;
    this.#handlers.onRedraw();
  }

  #undoLast() {
    const { strokes = [] } = this.#item ?? {};
    if (strokes.length === 0 || this.#stroke !== undefined) return;
    this.#setStrokes(strokes.slice(0, -1));
    this.#handlers.onRedraw();
    // A disabled button would lose the focus, and with it the keys.
    if (document.activeElement?.matches(':disabled')) this.#frame.focus({ preventScroll: true });
  }

  #setStrokes(/** @type {Stroke[]} */ strokes) {
    if (this.#item === undefined) return;
    this.#item.strokes = strokes;
    this.#showUndo();
    this.#handlers.onChange(this.#item);
  }

  #showUndo() {
    this.#undo.disabled = !this.#item?.strokes.length;
  }

  #showRing(/** @type {Point} */ [x, y]) {
    this.#position = [x, y];
    this.#ring.hidden = false;
    const style = { left: `${x}px`, top: `${y}px`, width: `${this.#size}px`, height: `${this.#size}px` };
    Object.assign(this.#ring.style, style);
  }

  #showValues() {
    showValue(this.#sizeSlider, String(this.#size));
    showValue(this.#hardness, formatPercent(this.#hardness.valueAsNumber / 100));
  }
}
