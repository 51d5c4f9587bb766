import { withAccessKey } from '../access-key.js';
import { formatBytes } from '../format.js';
import { ConnectionLost, isAbort, parseProblem, RequestFailed } from '../problem.js';
import { errorTextOf } from '../texts.js';

/** @typedef {{ id: string, erases: boolean, hardness: number, points: Float32Array }} Stroke see brush.js */
/** @typedef {'preparing' | 'waiting' | 'uploading' | 'working' | 'done' | 'failed' | 'cancelled'} State */
/** @typedef {import('../request-queue.js').RequestQueue} RequestQueue */
/** @typedef {{ id: string, file: File, isTransparent: boolean, png: Blob, strokes: Stroke[] }} Kept a finished image that this tab has stored */

/** One image, from its file to its cut-out. */
export class QueuedImage {
  /** @type {State} */
  state = 'preparing';
  /** Upload progress, 0-1. */
  progress = 0;
  /** @type {import('../request-queue.js').Wait | undefined} */
  wait;
  /** Whether the uploaded file has transparent pixels. */
  isTransparent = false;
  /** The untuned cut-out, a PNG; tuned with the defaults if the file is transparent. @type {Blob | undefined} */
  png;
  isSaved = false;
  /** The brush's strokes; see brush.js. @type {Stroke[]} */
  strokes = [];
  /** @type {unknown} */
  error;
  #abort = new AbortController();
  #onChange;

  /**
   * @param {File} file
   * @param {(item: QueuedImage) => void} onChange
   * @param {Kept} [kept]
   */
  constructor(file, onChange, kept) {
    this.id = kept?.id ?? `${Date.now()}-${Math.random()}`;
    this.file = file;
    this.url = URL.createObjectURL(file);
    this.#onChange = onChange;
    if (kept) Object.assign(this, { ...kept, state: 'done' });
  }

  get isOver() {
    return this.state === 'done' || this.state === 'failed' || this.state === 'cancelled';
  }

  /** The file name of its cut-out, which always differs from the image's name. */
  nameFor(/** @type {string} */ extension) {
    return `${this.file.name.replace(/\.[^.]*$/, '') || 'image'}-cutout.${extension}`;
  }

  /** Sends the image once the limits allow it. */
  async send(/** @type {RequestQueue} */ queue) {
    const { signal } = (this.#abort = new AbortController());
    this.error = undefined;
    this.set('waiting');
    const onWait = (/** @type {import('../request-queue.js').Wait | undefined} */ wait) => {
      this.wait = wait;
      this.progress = 0;
      this.set(wait ? 'waiting' : 'uploading');
    };
    try {
      this.png = await queue.run('image', () => this.#removeBackground(queue, signal), { signal, onWait });
      this.set('done');
    } catch (error) {
      // The health report denies an outage: something on the way may reject so large a file.
      this.error = error instanceof ConnectionLost ? brokenUpload(this.file) : error;
      this.set(isAbort(error) ? 'cancelled' : 'failed');
    }
  }

  cancel() {
    this.#abort.abort();
  }

  set(/** @type {State} */ state) {
    this.state = state;
    this.#onChange(this);
  }

  /**
   * Sends it with XMLHttpRequest, since fetch doesn't report upload progress.
   * @returns {Promise<Blob>} the untuned cut-out as a PNG
   * @throws RequestFailed, ConnectionLost, or an AbortError when `signal` aborts
   */
  #removeBackground(/** @type {RequestQueue} */ queue, /** @type {AbortSignal} */ signal) {
    const form = new FormData();
    // How the tuning and the file's own alpha combine is known to the service alone.
    if (!this.isTransparent) for (const [name, value] of Object.entries(untuned)) form.append(name, value);
    form.append('file', this.file, this.file.name);
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', 'api/remove-background');
      request.responseType = 'blob';
      for (const [name, value] of Object.entries(withAccessKey())) request.setRequestHeader(name, value);
      request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
        if (!lengthComputable || total === 0) return;
        this.progress = loaded / total;
        this.set('uploading');
      });
      request.upload.addEventListener('load', () => this.set('working'));
      request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
      request.addEventListener('error', () => reject(new ConnectionLost('No response')));
      request.addEventListener('load', () => {
        queue.readImageLimit(request.getResponseHeader('RateLimit'));
        // The login page of a network or proxy has status 200 too.
        if (request.response.type === 'image/png') resolve(request.response);
        else void problemIn(request).then(reject, reject);
      });
      signal.addEventListener('abort', () => request.abort(), { once: true });
      request.send(form);
    });
  }
}

/** @returns the problem of a connection that breaks only for this image */
function brokenUpload(/** @type {File} */ { size }) {
  return new RequestFailed({ ...errorTextOf('broken', { size: formatBytes(size) }), retryable: true });
}

/** With these values the service doesn't tune the matte. The page does, without another upload. */
const untuned = { threshold: '0', feather: '0', foreground_strength: '1' };

async function problemIn(/** @type {XMLHttpRequest} */ request) {
  const retryAfter = request.getResponseHeader('Retry-After');
  return new RequestFailed(
    parseProblem(await request.response.text(), { status: request.status, retryAfter }),
  );
}
