import { withAccessKey } from '../access-key.js';
import { pause } from '../dom.js';
import { formatBytes } from '../format.js';
import { isAbort, parseProblem, RequestFailed } from '../problem.js';
import { errorText } from '../texts.js';

/** One image to process. `state` is `waiting`, `uploading`, `working`, `done`, `failed` or `cancelled`. */
export class QueuedImage {
  state = 'waiting';
  /** Upload progress, 0-1. */
  progress = 0;
  /** While waiting for the rate limit: the `performance.now()` at which it continues. */
  waitsUntil;
  /** The untuned cut-out, a PNG. */
  png;
  isSaved = false;
  /** The brush's current and undone strokes; see brush.js. */
  strokes = [];
  undone = [];
  error;
  abort = new AbortController();

  /** @param kept `{ id, png, strokes }` of a finished image that this tab has stored */
  constructor(file, kept) {
    this.id = kept?.id ?? `${Date.now()}-${Math.random()}`;
    this.file = file;
    this.url = URL.createObjectURL(file);
    if (kept) Object.assign(this, { png: kept.png, strokes: kept.strokes, state: 'done' });
  }

  get isOver() {
    return this.state === 'done' || this.state === 'failed' || this.state === 'cancelled';
  }

  /** The file name of its cut-out, which always differs from the image's name. */
  nameFor(extension) {
    return `${this.file.name.replace(/\.[^.]*$/, '') || 'image'}-cutout.${extension}`;
  }
}

/** Sends images one at a time, and waits automatically when the rate limit is reached. */
export class Queue {
  #items = [];
  #running = false;
  #quota;
  #onChange;

  /** @param onChange called with the item that changed */
  constructor(quota, onChange) {
    this.#quota = quota;
    this.#onChange = onChange;
  }

  add(item) {
    this.#items.push(item);
    void this.#run();
  }

  /** Retries an image that failed or was cancelled. */
  retry(item) {
    item.abort = new AbortController();
    item.error = undefined;
    this.#set(item, { state: 'waiting' });
    this.add(item);
  }

  cancel(item) {
    item.abort.abort();
    this.#items = this.#items.filter((other) => other !== item);
    if (!item.isOver) this.#set(item, { state: 'cancelled', waitsUntil: undefined });
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) {
      await this.#send(item);
    }
    this.#running = false;
  }

  async #send(item) {
    const { signal } = item.abort;
    try {
      await this.#waitForTurn(item, this.#quota.waitMs);
      this.#set(item, { state: 'uploading', progress: 0 });
      const png = await removeBackground(item.file, {
        signal,
        onProgress: (progress) => this.#set(item, { progress }),
        onUploaded: () => this.#set(item, { state: 'working' }),
        onHeaders: (header) => this.#quota.update(header),
      });
      this.#set(item, { state: 'done', png });
    } catch (error) {
      if (isAbort(error)) return;
      const { code, retryAfterSeconds } = error instanceof RequestFailed ? error.problem : {};
      if (code !== 'rate_limited') {
        this.#set(item, { state: 'failed', error });
        return;
      }
      await this.#waitForTurn(item, (retryAfterSeconds ?? 5) * 1000).then(
        () => this.#items.unshift(item),
        () => undefined, // cancelled in the meantime
      );
    }
  }

  async #waitForTurn(item, waitMs) {
    if (waitMs > 0) {
      this.#set(item, { state: 'waiting', waitsUntil: performance.now() + waitMs });
      await pause(waitMs, item.abort.signal);
      this.#set(item, { waitsUntil: undefined });
    }
    item.abort.signal.throwIfAborted();
  }

  #set(item, values) {
    Object.assign(item, values);
    this.#onChange(item);
  }
}

/** With these values the service doesn't tune the matte. The page does, without another upload. */
const untuned = { threshold: '0', feather: '0', foreground_strength: '1' };

/**
 * Sends an image with XMLHttpRequest, since fetch doesn't report upload progress.
 * @returns the untuned cut-out as a PNG
 * @throws RequestFailed, or an AbortError when `signal` aborts
 */
function removeBackground(file, { signal, onProgress, onUploaded, onHeaders }) {
  const form = new FormData();
  for (const [name, value] of Object.entries(untuned)) form.append(name, value);
  form.append('file', file, file.name);

  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', 'api/remove-background');
    request.responseType = 'blob';
    for (const [name, value] of Object.entries(withAccessKey())) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total);
    });
    request.upload.addEventListener('load', onUploaded);
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
    request.addEventListener('error', () => reject(connectionLost(file)));
    request.addEventListener('load', () => {
      onHeaders((name) => request.getResponseHeader(name));
      // The login page of a network or proxy has status 200 too.
      if (request.response.type === 'image/png') resolve(request.response);
      else rejectWithProblem(request, reject);
    });
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}

function rejectWithProblem(request, reject) {
  const retryAfter = request.getResponseHeader('Retry-After');
  request.response
    .text()
    .then(
      (body) => reject(new RequestFailed(parseProblem(body, { status: request.status, retryAfter }))),
      reject,
    );
}

function connectionLost(file) {
  return new RequestFailed({
    ...errorText('broken', { size: formatBytes(file.size) }),
    retryable: true,
  });
}
