import type { Logger } from '@media-services/http-common';
import { isCoverImage, maxCoverBytes } from '../containers/id3-tag.js';
import type { Plan } from '../plan/index.js';
import type { StreamRelay } from './stream-relay.js';

const maxWaitMs = 1500;

/** The page's thumbnail for the tag of an MP3; null where it is none, too large, late or broken: a picture never fails a stream. */
export async function fetchCover(
  relay: StreamRelay,
  { target, thumbnail }: Pick<Plan, 'target' | 'thumbnail'>,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
): Promise<Uint8Array | null> {
  if (target !== 'mp3' || thumbnail === null) return null;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]);
  try {
    const { bytes } = await relay.fetchBytes(thumbnail, {
      headers: {},
      maxBytes: maxCoverBytes,
      signal: limited,
    });
    return isCoverImage(bytes) ? bytes : null;
  } catch (error) {
    logger.debug({ err: error }, 'no cover');
    return null;
  }
}
