/** The page's side of the worker that tunes and writes cut-outs. */
export class CutOutWorker {
  #worker;
  #waiting = new Map();
  #nextId = 1;
  #preview;
  #nextPreview;

  /**
   * A tuned cut-out at a size for the screen, or at full size. A newer request replaces
   * a waiting one, which resolves to undefined.
   * @returns an ImageBitmap with the size of the whole image beside it
   */
  preview(png, tuning, { full = false } = {}) {
    this.#nextPreview?.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#nextPreview = { png, tuning, full, resolve, reject };
      if (this.#preview === undefined) this.#startPreview();
    });
  }

  /** The file: tuned, at full size; see background.js and output-options.js for the values. */
  save(png, tuning, background, output) {
    return this.#ask('save', { png, tuning, background, output });
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
    this.#ask('preview', { png: next.png, tuning: next.tuning, full: next.full })
      .then(next.resolve, next.reject)
      .finally(() => this.#startPreview());
  }

  #ask(kind, parameters) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // Started with the first image: saving a video needs none of its code.
      this.#worker ??= this.#start();
      this.#worker.postMessage({ id, kind, ...parameters });
    });
  }

  #start() {
    const worker = new Worker(new URL('./worker/cut-out-worker.js', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data: { id, result, error } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    return worker;
  }
}
