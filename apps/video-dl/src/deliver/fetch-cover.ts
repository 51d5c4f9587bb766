import type { Logger } from '@media-services/http-common';
import { type Cover, coverFrom, maxCoverBytes } from '../formats/cover.js';
import type { Plan } from '../plan/plan.js';
import type { Upstream } from '../upstream/upstream.js';

const maxCoverWaitMs = 1500;

/** The page's thumbnail for an audio file. Null if it is missing, too large, late or broken, which never fails a stream. */
export async function fetchCover(
  upstream: Pick<Upstream, 'fetchBytes'>,
  { container, thumbnail }: Pick<Plan, 'container' | 'thumbnail'>,
  { signal, client, logger }: { signal: AbortSignal; client: string; logger: Logger },
): Promise<Cover | null> {
  const hasCover = container !== null && container !== 'mp4';
  if (!hasCover || thumbnail === null) return null;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(maxCoverWaitMs)]);
  try {
    const options = { maxBytes: maxCoverBytes, signal: limited, client };
    const { bytes } = await upstream.fetchBytes(thumbnail, options);
    return coverFrom(bytes);
  } catch (error) {
    logger.debug({ err: error }, 'no cover');
    return null;
  }
}
