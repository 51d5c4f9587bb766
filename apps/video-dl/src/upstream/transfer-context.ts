import type { Dispatcher } from 'undici';
import type { NetworkLogger } from '@media-services/egress-guard';

/** What is waited for of media servers, and how much is taken. */
export interface UpstreamLimits {
  /** From sending a request to the head of its answer. */
  readonly firstByteTimeoutMs: number;
  /** Without a byte from upstream while the reader wants some. */
  readonly idleTimeoutMs: number;
  /** From upstream, over a whole session. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** In a row without progress: the first request and its repetitions. */
  readonly maxAttempts: number;
  /** Before the second attempt; doubles with each further one. */
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
  /** The longest pause that a server may ask for with Retry-After; a longer one is a failure at once. */
  readonly maxRetryAfterMs: number;
  readonly maxManifestBytes: number;
  /** Of one source. */
  readonly maxSegments: number;
}

export const defaultLimits: UpstreamLimits = {
  firstByteTimeoutMs: 15_000,
  idleTimeoutMs: 20_000,
  maxBytes: 16 * 1024 ** 3,
  maxRedirects: 10,
  maxAttempts: 5,
  retryDelayMs: 200,
  maxRetryDelayMs: 5_000,
  maxRetryAfterMs: 20_000,
  maxManifestBytes: 2 * 1024 ** 2,
  maxSegments: 10_000,
};

/** What every transfer of a session shares. */
export interface TransferContext {
  readonly dispatcher: Dispatcher;
  readonly limits: UpstreamLimits;
  readonly logger: NetworkLogger;
  /** The reader decompresses what it gets: gzip is allowed, whose length is then that of the compressed form. */
  readonly mayBeCompressed?: boolean;
  /**
   * Counts bytes from upstream.
   * @throws TransferFault when the session has received all that it may
   */
  countReceived(bytes: number): void;
}
