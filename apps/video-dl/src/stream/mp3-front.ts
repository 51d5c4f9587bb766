import { makeId3Tag } from '../containers/id3-tag.js';
import { makeInfoFrame } from '../containers/mp3/info-frame.js';
import type { Plan } from '../plan/index.js';

interface Mp3FrontOptions {
  cover: Uint8Array | null;
  /** Length for the tag. */
  durationSeconds: number | null;
  /** Length of the sound, where it is known for sure. */
  exactSeconds: number | null;
  /** The beginning of the sound. */
  sound: Buffer;
}

/** What goes in front of the sound: the tag, and the frame that states the length. */
export function makeMp3Front(plan: Plan, options: Mp3FrontOptions): Buffer {
  const { cover, durationSeconds, exactSeconds, sound } = options;
  const tag = makeTag(plan, cover, durationSeconds);
  const kind = plan.audio?.action === 'copy' ? 'Xing' : 'Info';
  const info = exactSeconds === null ? undefined : makeInfoFrame(sound, exactSeconds, kind);
  return info === undefined ? tag : Buffer.concat([tag, info]);
}

/** Bytes of the tag, as far as the plan and the cover tell. */
export function estimateMp3FrontBytes(plan: Plan, cover: Uint8Array | null): number {
  return makeTag(plan, cover, plan.durationSeconds).length;
}

function makeTag(plan: Plan, cover: Uint8Array | null, durationSeconds: number | null): Buffer {
  const { title, uploader: artist, webpageUrl: sourceUrl } = plan;
  return makeId3Tag({ title, artist, sourceUrl, durationSeconds, cover });
}
