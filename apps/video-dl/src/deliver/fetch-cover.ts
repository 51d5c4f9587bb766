import type { Logger } from '@media-services/http-common';
import { type Cover, coverFrom, isWebp, maxCoverBytes } from '../formats/cover.js';
import type { Plan } from '../plan/plan.js';
import type { Upstream } from '../upstream/upstream.js';

const maxCoverWaitMs = 1500;

export interface FetchCoverOptions {
  readonly upstream: Pick<Upstream, 'fetchBytes'>;
  /** Null if it can't be converted, or not now. */
  readonly jpegOf: (webp: Buffer, signal: AbortSignal) => Promise<Buffer | null>;
  readonly signal: AbortSignal;
  readonly client: string;
  readonly logger: Logger;
}

/**
 * The page's first image that can be the cover of an audio file; a WebP becomes a JPEG, because most
 * players don't show it. Null if every image is missing, too large, late or broken, which never fails a
 * stream.
 */
export async function fetchCover(
  { container, covers }: Pick<Plan, 'container' | 'covers'>,
  { upstream, jpegOf, signal, client, logger }: FetchCoverOptions,
): Promise<Cover | null> {
  if (container === null || container === 'mp4') return null;
  // Also used below: Node 20 forgets a timeout to which only `AbortSignal.any` refers.
  const deadline = AbortSignal.timeout(maxCoverWaitMs);
  const limited = AbortSignal.any([signal, deadline]);
  for (const url of covers) {
    try {
      const { bytes } = await upstream.fetchBytes(url, { maxBytes: maxCoverBytes, signal: limited, client });
      const shown = isWebp(bytes) ? await jpegOf(bytes, limited) : bytes;
      const cover = shown && coverFrom(shown);
      if (cover !== null) return cover;
    } catch (error) {
      logger.debug({ err: error }, 'no cover');
      if (signal.aborted || deadline.aborted) return null;
    }
  }
  return null;
}
