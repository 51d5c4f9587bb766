import { setTimeout as delay } from 'node:timers/promises';
import type { NetworkLogger } from '@media-services/egress-guard';
import { DomainError } from '@media-services/http-common';
import type { Dispatcher } from 'undici';
import type { WantedTrack } from '../manifests/dash-representations.js';
import type { KeyOverride } from '../manifests/hls-playlist.js';
import type { Cookie } from './cookies.js';

/** A media URL with everything its server expects in the request. Plain, serializable data. */
export interface MediaSource {
  /** The format and extraction that it came from, used to find the same source in a newer extraction. */
  readonly origin?: {
    readonly formatId: string;
    /** Milliseconds since the epoch. */
    readonly extractedAt: number;
    /** The outbound proxy used for the extraction. Signed URLs are bound to its IP. */
    readonly exit: number;
  };
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly Cookie[];
  readonly kind: 'file' | 'hls' | 'dash';
  /** Which track of a DASH manifest to use. */
  readonly wanted?: WantedTrack;
  /** Query string the extractor adds to segment URLs, and to key URLs unless `keyQuery` is set. */
  readonly segmentQuery?: string;
  readonly keyQuery?: string;
  /** Overrides the key in the HLS playlist. */
  readonly hlsKey?: KeyOverride;
  /** The HLS playlist itself, if the extractor had to change it. */
  readonly playlistText?: string;
  /** Request at most this many bytes at once. */
  readonly chunkBytes?: number;
  /** When the server starts to accept requests, in milliseconds since the epoch. */
  readonly availableAt?: number;
}

/**
 * Gets a fresh URL for the same media.
 * @param source the source whose URL was rejected
 * @throws DomainError when the site no longer offers it; the signal's reason
 */
export type RenewSource = (source: MediaSource, signal: AbortSignal) => Promise<MediaSource>;

/** A server's clock differs slightly from ours, and a rejected request costs an extraction. */
const marginMs = 250;

/** Milliseconds until all sources are available; 0 when they are now. @param now milliseconds since the epoch */
export function waitMs(sources: readonly MediaSource[], now: number): number {
  const latest = Math.max(0, ...sources.flatMap(({ availableAt }) => availableAt ?? []));
  return latest > now ? latest - now + marginMs : 0;
}

/**
 * Waits until all sources are available. Some sites withhold them until their ads are over.
 * @throws DomainError `upstream_timeout` immediately when that is more than `maxMs` away; the signal's reason
 */
export async function untilAvailable(
  sources: readonly MediaSource[],
  { signal, maxMs }: { signal: AbortSignal; maxMs: number },
): Promise<void> {
  const ms = waitMs(sources, Date.now());
  if (ms === 0) return;
  if (ms > maxMs) {
    const seconds = Math.ceil(ms / 1000);
    throw new DomainError(
      'upstream_timeout',
      `The site releases this video after its ads, in ${seconds} s. This service doesn't wait that long. Try again then.`,
    );
  }
  await delay(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** Timeouts, retries and size limits for media servers. */
export const defaultLimits = {
  /** From sending a request to receiving its response headers. */
  firstByteTimeoutMs: 15_000,
  /** Without a byte from upstream while the reader waits for one. */
  idleTimeoutMs: 20_000,
  /** Received from upstream per session. */
  maxBytes: 16 * 1024 ** 3,
  maxRedirects: 10,
  /** Consecutive attempts without progress, including the first. */
  maxAttempts: 5,
  /** Before the second attempt; doubles with each one after that. */
  retryDelayMs: 200,
  maxRetryDelayMs: 5_000,
  /** The longest Retry-After that we wait for; a longer one fails immediately. */
  maxRetryAfterMs: 20_000,
  maxManifestBytes: 2 * 1024 ** 2,
  /** Per source. */
  maxSegments: 10_000,
};

export type UpstreamLimits = Readonly<typeof defaultLimits>;

/** Shared by all transfers of a session. */
export interface TransferContext {
  readonly dispatcher: Dispatcher;
  readonly limits: UpstreamLimits;
  readonly logger: NetworkLogger;
  /**
   * Counts bytes from upstream.
   * @throws TransferFault when the session exceeds its limit
   */
  countReceived(bytes: number): void;
}
