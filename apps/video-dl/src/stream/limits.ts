import type { Capacity } from '../capacity.js';
import type { Config } from '../config.js';

/** Bounds of streaming. */
export interface StreamLimits {
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** From the media URLs to the first byte, all waiting included. */
  readonly firstByteTimeoutMs: number;
  /** Without a byte from the media server, and none from ffmpeg. */
  readonly upstreamIdleTimeoutMs: number;
  /** Without a byte taken by the client. */
  readonly clientIdleTimeoutMs: number;
  /** What a client takes at least in each minute in which the stream waits for it; 0 for no such limit. */
  readonly minClientBytesPerMinute: number;
  /** What a source sends at least in each minute in which the stream waits for it; 0 for no such limit. */
  readonly minSourceBytesPerMinute: number;
  readonly totalTimeoutMs: number;
  readonly maxOutputBytes: number;
}

export function streamLimits(config: Config, { streams }: Capacity): StreamLimits {
  return {
    maxConcurrent: streams,
    maxQueued: config.MAX_QUEUED_STREAMS,
    firstByteTimeoutMs: config.FIRST_BYTE_TIMEOUT_SECONDS * 1000,
    upstreamIdleTimeoutMs: config.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
    clientIdleTimeoutMs: config.CLIENT_IDLE_TIMEOUT_SECONDS * 1000,
    minClientBytesPerMinute: config.MIN_CLIENT_BYTES_PER_MINUTE,
    minSourceBytesPerMinute: config.MIN_SOURCE_BYTES_PER_MINUTE,
    totalTimeoutMs: config.MAX_STREAM_SECONDS * 1000,
    maxOutputBytes: config.MAX_OUTPUT_BYTES,
  };
}

/**
 * Ends everything that belongs to one stream, for the first reason that comes
 * up: the client left, a deadline passed, upstream failed, the service stops.
 */
export class StreamAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #client: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #onClientGone = (): void => this.abort(this.#client.reason);

  /** @param onTotalTimeout gives the reason when the stream has lasted `totalTimeoutMs`. */
  constructor(client: AbortSignal, totalTimeoutMs: number, onTotalTimeout: () => Error) {
    this.#client = client;
    client.addEventListener('abort', this.#onClientGone, { once: true });
    // setTimeout takes 31 bits; a longer limit is as good as none.
    this.#timer = setTimeout(() => this.abort(onTotalTimeout()), Math.min(totalTimeoutMs, 2 ** 31 - 1));
    if (client.aborted) this.#onClientGone();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener('abort', this.#onClientGone);
  }
}

/**
 * The one deadline for all that comes before a stream's first byte: the site's own
 * waiting time, a place, a look at the source, ffmpeg.
 */
export class FirstByteDeadline implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #reason: () => Error;

  /** @param late why the stream ends when the time is over */
  constructor(abort: StreamAbort, milliseconds: number, late: () => Error) {
    this.#reason = late;
    this.#timer = setTimeout(() => abort.abort(this.#reason()), milliseconds);
  }

  /** Awaits what has a reason of its own to be late. */
  async during<T>(late: () => Error, work: () => Promise<T>): Promise<T> {
    const usual = this.#reason;
    this.#reason = late;
    try {
      return await work();
    } finally {
      this.#reason = usual;
    }
  }

  /** The first byte is there. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Awaits `work`; calls `onTimeout` when it has not settled after `milliseconds`,
 * and again after each further such time. The work itself goes on: `onTimeout`
 * ends it, or lets it be.
 */
export async function watched<T>(
  milliseconds: number,
  onTimeout: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(onTimeout, milliseconds);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
