import { withAccessKey } from '../access-key.js';
import { ensureSuccess, RequestFailed } from '../problem.js';

const speedWindowMs = 3000;

/** The connection ended before the file was complete. */
export class InterruptedTransferError extends Error {
  constructor(cause) {
    super('The connection broke', { cause });
    this.name = 'InterruptedTransferError';
  }
}

/**
 * Writes one download into a file, chunk by chunk. After a broken connection, `run` resumes
 * where it stopped if the server supports ranges, otherwise starts over.
 */
export class Transfer {
  receivedBytes = 0;
  /** undefined: unknown */
  totalBytes;
  totalIsExact = false;
  #href;
  #file;
  #validator;
  #samples = [];

  /** @param file a FileSystemWritableFileStream */
  constructor(href, file) {
    this.#href = href;
    this.#file = file;
  }

  /** Whether a broken transfer can resume at its last byte. */
  get canResume() {
    return this.#validator !== undefined && this.receivedBytes > 0;
  }

  /** Bytes per second over the last seconds; undefined until it is known. */
  measureSpeed() {
    const now = performance.now();
    this.#samples.push({ at: now, bytes: this.receivedBytes });
    while (now - this.#samples[0].at > speedWindowMs) this.#samples.shift();
    const [first] = this.#samples;
    const seconds = (now - first.at) / 1000;
    return seconds < 0.5 ? undefined : (this.receivedBytes - first.bytes) / seconds;
  }

  /**
   * @throws RequestFailed when the server rejects it, InterruptedTransferError, AbortError when `signal` aborts;
   *   any other error comes from writing the file
   */
  async run(signal) {
    this.#samples = [];
    const response = await this.#open(signal);
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((error) => this.#broken(error, signal));
      if (done) break;
      await this.#file.write({ type: 'write', position: this.receivedBytes, data: value });
      this.receivedBytes += value.byteLength;
    }
    if (this.totalIsExact && this.receivedBytes !== this.totalBytes) throw new InterruptedTransferError();
    await this.#file.close();
  }

  async #open(signal) {
    const range = this.canResume
      ? { Range: `bytes=${this.receivedBytes}-`, 'If-Range': this.#validator }
      : undefined;
    const request = fetch(this.#href, { headers: withAccessKey(range), cache: 'no-store', signal });
    const response = await request.then(ensureSuccess).catch((error) => this.#broken(error, signal));
    const header = (name) => response.headers.get(name);
    const [, start, whole] = /^bytes (\d+)-\d+\/(\d+)$/.exec(header('Content-Range') ?? '') ?? [];
    if (response.status !== 206 || Number(start) !== this.receivedBytes) {
      if (response.status === 206) throw new InterruptedTransferError();
      this.receivedBytes = 0;
      await this.#file.truncate(0);
    }
    const size = sizeOf(header);
    this.totalBytes = whole === undefined ? size.bytes : Number(whole);
    this.totalIsExact = whole !== undefined || size.isExact;
    this.#validator = rangeValidator(header);
    return response;
  }

  #broken(error, signal) {
    // A server that rejects the rest for now, for example while it restarts, may send it later.
    const isFinal = error instanceof RequestFailed && !(this.canResume && error.problem.retryable);
    throw isFinal || signal.aborted ? error : new InterruptedTransferError(error);
  }
}

/** The size in the headers: exact, estimated, or unknown. */
export function sizeOf(header) {
  const exact = header('Content-Length');
  const text = exact ?? header('Estimated-Content-Length');
  return { bytes: text === null ? undefined : Number(text), isExact: exact !== null };
}

/** The validator for a later range request (RFC 9110, 13.1.5); undefined if the server supports no ranges. */
function rangeValidator(header) {
  if (header('Accept-Ranges') !== 'bytes') return undefined;
  const tag = header('ETag');
  return (tag?.startsWith('W/') ? undefined : tag) ?? header('Last-Modified') ?? undefined;
}

/** The file name of a Content-Disposition header (RFC 6266). */
export function fileNameOf(disposition, fallback) {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (encoded !== undefined) {
    try {
      return decodeURIComponent(encoded);
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
    }
  }
  return /filename="([^"]+)"/i.exec(disposition ?? '')?.[1] ?? fallback;
}
