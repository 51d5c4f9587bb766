import { withAccessKey } from '../access-key.js';
import { ConnectionLost, isAbort, request } from '../problem.js';

const speedWindowMs = 3000;

/**
 * Where a transfer writes to.
 * @typedef {object} Target
 * @property {(position: number, chunk: Uint8Array<ArrayBuffer>) => Promise<void>} write
 * @property {() => Promise<void>} empty removes what has been written
 */

/**
 * Receives one download, chunk by chunk. After a broken connection, `run` resumes where it stopped
 * if the server supports ranges, otherwise it starts over.
 */
export class Transfer {
  receivedBytes = 0;
  /** @type {number | undefined} */
  totalBytes;
  totalIsExact = false;
  /** From the server; undefined before the first response. @type {string | undefined} */
  fileName;
  #href;
  /** @type {string | undefined} */
  #validator;
  /** @type {{ at: number, bytes: number }[]} */
  #samples = [];

  constructor(/** @type {string} */ href) {
    this.#href = href;
  }

  /** Whether a broken transfer can resume at its last byte. */
  get canResume() {
    return this.#validator !== undefined && this.receivedBytes > 0;
  }

  /** Bytes per second over the last seconds; undefined until it is known. */
  measureSpeed() {
    const now = performance.now();
    this.#samples.push({ at: now, bytes: this.receivedBytes });
    this.#samples = this.#samples.filter(({ at }) => now - at <= speedWindowMs);
    const [first] = this.#samples;
    const seconds = first ? (now - first.at) / 1000 : 0;
    return first && seconds >= 0.5 ? (this.receivedBytes - first.bytes) / seconds : undefined;
  }

  /**
   * @param {(fileName: string | undefined) => Promise<Target>} openTarget called once the server has accepted the request
   * @param {AbortSignal} signal
   * @throws RequestFailed, ConnectionLost, an AbortError; any other error comes from the target
   */
  async run(openTarget, signal) {
    const range = this.canResume
      ? { Range: `bytes=${this.receivedBytes}-`, 'If-Range': this.#validator ?? '' }
      : undefined;
    const response = await request(this.#href, { headers: withAccessKey(range), signal });
    const header = (/** @type {string} */ name) => response.headers.get(name);
    const [, start, whole] = /^bytes (\d+)-\d+\/(\d+)$/.exec(header('Content-Range') ?? '') ?? [];
    const size = sizeOf(header);
    this.totalBytes = whole === undefined ? size.bytes : Number(whole);
    this.totalIsExact = whole !== undefined || size.isExact;
    this.fileName = fileNameOf(header('Content-Disposition'));
    const target = await openTarget(this.fileName);
    this.#samples = [];
    if (response.status !== 206 || Number(start) !== this.receivedBytes) {
      this.receivedBytes = 0;
      await target.empty();
      if (response.status === 206) throw new ConnectionLost('The server sent another part');
    }
    this.#validator = rangeValidator(header);
    const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw isAbort(error) ? error : new ConnectionLost('The connection broke', { cause: error });
      });
      if (done) break;
      await target.write(this.receivedBytes, value);
      this.receivedBytes += value.byteLength;
    }
    if (this.totalIsExact && this.receivedBytes !== this.totalBytes) {
      throw new ConnectionLost('The response ended too early');
    }
  }
}

/** @typedef {(name: string) => string | null} Header */

/** The size in the headers: exact, estimated, or unknown. */
export function sizeOf(/** @type {Header} */ header) {
  const exact = header('Content-Length');
  const text = exact ?? header('Estimated-Content-Length');
  return { bytes: text === null ? undefined : Number(text), isExact: exact !== null };
}

/** The validator for a later range request (RFC 9110, 13.1.5); undefined if the server supports no ranges. */
function rangeValidator(/** @type {Header} */ header) {
  if (header('Accept-Ranges') !== 'bytes') return undefined;
  const tag = header('ETag');
  return (tag?.startsWith('W/') ? undefined : tag) ?? header('Last-Modified') ?? undefined;
}

/** The file name of a Content-Disposition header (RFC 6266). */
function fileNameOf(/** @type {string | null} */ disposition) {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (encoded !== undefined) {
    try {
      return decodeURIComponent(encoded);
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
    }
  }
  return /filename="([^"]+)"/i.exec(disposition ?? '')?.[1];
}
