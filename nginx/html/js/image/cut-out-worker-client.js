/** Asks the worker that tunes and writes cut-outs; the page itself never touches all pixels of an image. */
export class CutOutWorker {
  #worker;
  #waiting = new Map();
  #nextId = 1;
  #preview;
  #nextPreview;

  /**
   * A tuned cut-out at a size for the screen. Of requests that come faster than they
   * are done, only the last one counts; the others resolve to undefined.
   * @returns an ImageBitmap with the size of the whole image beside it
   */
  preview(png, tuning) {
    this.#nextPreview?.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#nextPreview = { png, tuning, resolve, reject };
      if (this.#preview === undefined) this.#startPreview();
    });
  }

  /** The file: tuned, at full size, on its background; see background.js for its value. */
  save(png, tuning, background) {
    return this.#ask('save', { png, tuning, background });
  }

  #startPreview() {
    const next = this.#nextPreview;
    this.#nextPreview = undefined;
    this.#preview = next;
    if (next === undefined) return;
    this.#ask('preview', { png: next.png, tuning: next.tuning })
      .then(next.resolve, next.reject)
      .finally(() => this.#startPreview());
  }

  #ask(kind, parameters) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // The first image starts it: who saves a video needs none of its code.
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
