/** @typedef {import('./queued-image.js').QueuedImage} QueuedImage */
/** @typedef {import('./worker/cut-out-worker.js').Tuning} Tuning */
/** @typedef {import('./worker/cut-out-worker.js').Output} Output */
/** @typedef {import('./worker/output.js').Background} Background */
/** @typedef {import('./worker/frame.js').Rectangle} Rectangle */
/** @typedef {{ tuning: Tuning, background: Background, output: Output }} Settings */
/** @typedef {{ bitmap: ImageBitmap, width: number, height: number, frame: Rectangle }} Preview with the size of the whole image, and the part of it that the bitmap shows */
/** @typedef {{ bitmap: ImageBitmap, left: number, top: number }} Painted */
/** @typedef {{ item: QueuedImage, settings: Settings, options: { full: boolean, isRetouching: boolean }, resolve: (preview: Preview | undefined) => void, reject: (error: unknown) => void }} Wanted */

/** The page's side of the worker that tunes, finishes and writes cut-outs. */
export class CutOutWorker {
  /** @type {Worker | undefined} */
  #worker;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  #nextTask = 1;
  /** @type {Wanted | undefined} */
  #preview;
  /** @type {Wanted | undefined} */
  #nextPreview;

  /**
   * A cut-out as it will be saved, or for retouching the whole one, at a size for the screen or at
   * full size. A newer request replaces a waiting one, which resolves to undefined.
   * @param {QueuedImage} item @param {Settings} settings
   * @param {{ full: boolean, isRetouching: boolean }} options
   * @returns {Promise<Preview | undefined>}
   */
  preview(item, settings, options) {
    this.#nextPreview?.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#nextPreview = { item, settings, options, resolve, reject };
      if (this.#preview === undefined) this.#startPreview();
    });
  }

  /**
   * Draws more of a stroke on the shown image, or all of it as the last part; see StrokeLayer.
   * @param {import('./queued-image.js').Stroke} stroke @param {Float32Array} points
   * @param {boolean} isLast
   * @returns {Promise<Painted | undefined>} the changed area; undefined outside the image
   */
  paint(stroke, points, isLast) {
    return this.#ask('paint', { stroke, points, isLast });
  }

  /** The file at full size. @returns {Promise<Blob>} */
  save(/** @type {QueuedImage} */ item, /** @type {Settings} */ settings) {
    return this.#ask('save', { ...sent(item), ...settings });
  }

  /** How large the file will be. @returns {Promise<{ bytes: number, isExact: boolean }>} */
  weigh(/** @type {QueuedImage} */ item, /** @type {Settings} */ settings) {
    return this.#ask('weigh', { ...sent(item), ...settings });
  }

  /** One ZIP archive. @returns {Promise<Blob>} */
  archive(/** @type {{ name: string, blob: Blob }[]} */ files) {
    return this.#ask('archive', { files });
  }

  #startPreview() {
    const next = this.#nextPreview;
    this.#nextPreview = undefined;
    this.#preview = next;
    if (next === undefined) return;
    const { item, settings, options } = next;
    this.#ask(options.isRetouching ? 'retouch' : 'preview', {
      ...sent(item),
      ...settings,
      full: options.full,
    })
      .then(next.resolve, next.reject)
      .finally(() => this.#startPreview());
  }

  /** @returns {Promise<any>} */
  #ask(/** @type {string} */ kind, /** @type {object} */ parameters) {
    const task = this.#nextTask++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(task, { resolve, reject });
      // Started with the first image, because saving videos doesn't need this code.
      this.#worker ??= this.#start();
      this.#worker.postMessage({ task, kind, ...parameters });
    });
  }

  #start() {
    const worker = new Worker(new URL('./worker/cut-out-worker.js', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data: { task, result, error } }) => {
      const waiting = this.#waiting.get(task);
      this.#waiting.delete(task);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
    worker.addEventListener('error', ({ message }) => {
      // It couldn't be loaded or has crashed; the next task starts another one.
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(new Error(message));
      this.#waiting.clear();
    });
    return worker;
  }
}

/** The parts of an item that the worker needs, with its current strokes. */
function sent(/** @type {QueuedImage} */ { id, png, file, isTransparent, strokes }) {
  return { id, png, file, isTuned: isTransparent, strokes };
}
