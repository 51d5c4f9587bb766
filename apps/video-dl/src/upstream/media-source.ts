import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@media-services/http-common';
import type { WantedTrack } from '../parsing/dash-segments.js';
import type { KeyOverride } from '../parsing/hls-playlist.js';

/** Which format of which extraction a source is: by it a renewed one is found. */
export interface SourceOrigin {
  readonly formatId: string;
  /** Milliseconds since the epoch. */
  readonly extractedAt: number;
  /** The outbound proxy that the site was asked through: signed URLs are bound to its IP. */
  readonly exit: number;
}

/** Where a medium is and how its server wants to be asked; plain data. */
export interface MediaSource {
  readonly origin?: SourceOrigin;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** yt-dlp's form (`a=1; Domain=.x.org; Path=/; Secure; b=2; …`) or a plain `Cookie` header for the host of `url`. */
  readonly cookies?: string;
  readonly kind: 'file' | 'hls' | 'dash';
  /** Which track of a DASH manifest it is; the best ones unless given. */
  readonly wanted?: WantedTrack;
  /** Query strings that the extractor adds to the URLs of segments, and of keys where that differs. */
  readonly segmentQuery?: string;
  readonly keyQuery?: string;
  /** Replaces what an HLS playlist says of its key. */
  readonly hlsKey?: KeyOverride;
  /** The HLS playlist itself, where the extractor had to change it. */
  readonly playlistText?: string;
  /** Ask for no more than so many bytes at once. */
  readonly chunkBytes?: number;
  /** Milliseconds since the epoch before which the server refuses. */
  readonly availableAt?: number;
}

/**
 * Finds the same medium under a URL that works again.
 * @param source the one whose URL was refused
 * @throws DomainError when the site offers it no more; the signal's reason
 */
export type RenewSource = (source: MediaSource, signal: AbortSignal) => Promise<MediaSource>;

/** A server's clock and ours differ a little, and a refusal costs an extraction. */
const marginMs = 250;

/** How long until all sources may be read; 0 when they may be now. @param now milliseconds since the epoch */
export function waitMs(sources: readonly MediaSource[], now: number): number {
  const latest = Math.max(0, ...sources.flatMap(({ availableAt }) => availableAt ?? []));
  return latest > now ? latest - now + marginMs : 0;
}

/**
 * Waits until all sources may be read: some sites refuse them until their advertisements are over.
 * @throws DomainError `upstream_timeout` at once when that is more than `maxMs` away; the signal's reason
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
      `The site gives this video out in ${seconds} s, after its advertisements, and that is longer than this service waits. Try again then.`,
    );
  }
  await delay(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
