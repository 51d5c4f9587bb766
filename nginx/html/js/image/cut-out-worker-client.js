/** The page's side of the worker that tunes and writes cut-outs. */
export class CutOutWorker {
  #worker;
  #waiting = new Map();
  #nextTask = 1;
  #preview;
  #nextPreview;

  /**
   * A tuned and retouched cut-out at a size for the screen, or at full size. A newer request
   * replaces a waiting one, which resolves to undefined.
   * @param item `id`, `png`, `file` and `strokes` of a QueuedImage
   * @returns an ImageBitmap with the size of the whole image beside it
   */
  preview(item, tuning, { full = false } = {}) {
    this.#nextPreview?.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#nextPreview = { item, tuning, full, resolve, reject };
      if (this.#preview === undefined) this.#startPreview();
    });
  }

  /**
   * Draws more of a stroke on the shown image, or all of it as the last part; see StrokeLayer.
   * @returns `{ bitmap, left, top }` of the changed area, or undefined outside the image
   */
  paint(stroke, points, isLast) {
    return this.#ask('paint', { stroke, points, isLast });
  }

  /** The file: tuned, at full size; see choices.js for the values. */
  save(item, tuning, background, output) {
    return this.#ask('save', { ...sent(item), tuning, background, output });
  }

  /** @param files `{ name, blob }`; returns one ZIP archive */
  archive(files) {
    return this.#ask('archive', { files });
  }

  #startPreview() {
    const next = this.#nextPreview;
    this.#nextPreview = undefined;
    this.#preview = next;
    if (next === undefined) return;
    this.#ask('preview', { ...sent(next.item), tuning: next.tuning, full: next.full })
      .then(next.resolve, next.reject)
      .finally(() => this.#startPreview());
  }

  #ask(kind, parameters) {
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
      const { resolve, reject } = this.#waiting.get(task);
      this.#waiting.delete(task);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
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
function sent({ id, png, file, strokes }) {
  return { id, png, file, strokes };
}
