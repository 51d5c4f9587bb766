import type { Logger } from '@media-services/http-common';
import { isCoverImage, makeId3Tag, maxCoverBytes } from '../containers/id3-tag.js';
import { makeInfoFrame } from '../containers/mp3-frames.js';
import type { Plan } from '../plan/plan.js';
import type { Upstream } from '../upstream/upstream.js';

const maxCoverWaitMs = 1500;

/** The page's thumbnail for the tag of an MP3; null where it is none, too large, late or broken: a picture never fails a stream. */
export async function fetchCover(
  upstream: Pick<Upstream, 'fetchBytes'>,
  { target, thumbnail }: Pick<Plan, 'target' | 'thumbnail'>,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
): Promise<Uint8Array | null> {
  if (target !== 'mp3' || thumbnail === null) return null;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(maxCoverWaitMs)]);
  try {
    const { bytes } = await upstream.fetchBytes(thumbnail, { maxBytes: maxCoverBytes, signal: limited });
    return isCoverImage(bytes) ? bytes : null;
  } catch (error) {
    logger.debug({ err: error }, 'no cover');
    return null;
  }
}

interface Mp3HeaderOptions {
  cover: Uint8Array | null;
  /** Length for the tag. */
  durationSeconds: number | null;
  /** Length of the sound, where it is known for sure. */
  exactSeconds: number | null;
  /** The beginning of the sound. */
  sound: Buffer;
}

/** What goes in front of the sound: the tag, and the frame that states the length. */
export function makeMp3Header(plan: Plan, options: Mp3HeaderOptions): Buffer {
  const { cover, durationSeconds, exactSeconds, sound } = options;
  const tag = makeTag(plan, cover, durationSeconds);
  const kind = plan.audio?.action === 'copy' ? 'Xing' : 'Info';
  const info = exactSeconds === null ? undefined : makeInfoFrame(sound, exactSeconds, kind);
  return info === undefined ? tag : Buffer.concat([tag, info]);
}

/** Bytes of the tag, as far as the plan and the cover tell; 0 for what has none. */
export function estimateMp3HeaderBytes(plan: Plan, cover: Uint8Array | null): number {
  if (plan.target !== 'mp3') return 0;
  return makeTag(plan, cover, plan.durationSeconds).length;
}

/** The ID3 tag of a stream. */
export function makeTag(plan: Plan, cover: Uint8Array | null, durationSeconds: number | null): Buffer {
  const { title, uploader: artist, webpageUrl: sourceUrl } = plan;
  return makeId3Tag({ title, artist, sourceUrl, durationSeconds, cover });
}
