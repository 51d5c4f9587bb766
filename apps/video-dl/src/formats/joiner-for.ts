import { matroskaIds } from './matroska/ebml.js';
import { FragmentedMp4Joiner, topBoxes } from './mp4/join.js';
import type { Joiner } from './joiner.js';
import { damaged, notJoinable } from './rejection.js';
import { MatroskaJoiner } from './matroska/join.js';
import { OggJoiner } from './ogg/join.js';
import { PackedAudioJoiner } from './mpeg-audio/join.js';
import { TransportStreamJoiner } from './mpeg-ts/join.js';

/** Bytes needed to detect the format of a segment. */
export const sniffedBytes = 12;

/** FLAC, WAV and AVI, which can't be cut into segments. */
const wholeFiles = new Set(['fLaC', 'RIFF']);

/**
 * The joiner for segments that start with these bytes.
 * @param readsAudioOnly whether the video may change its encoding
 * @throws Rejection for an unknown format
 */
export function joinerFor(head: Buffer, isOnlySegment: boolean, readsAudioOnly = false): Joiner {
  if (head[0] === 0x47) return new TransportStreamJoiner();
  if (head.length >= 8 && topBoxes.has(head.toString('latin1', 4, 8)))
    return new FragmentedMp4Joiner(isOnlySegment, readsAudioOnly);
  if (head.length >= 4 && head.readUInt32BE(0) === matroskaIds.header)
    return new MatroskaJoiner(isOnlySegment);
  if (head.toString('latin1', 0, 4) === 'OggS') return new OggJoiner();
  const isSync = head.length >= 2 && (head.readUInt16BE(0) & 0xffe0) === 0xffe0;
  const isAc3 = head.length >= 2 && head.readUInt16BE(0) === 0x0b77;
  if (isSync || isAc3 || head.toString('latin1', 0, 3) === 'ID3') return new PackedAudioJoiner();
  if (wholeFiles.has(head.toString('latin1', 0, 4))) throw notJoinable('starts again in each part');
  throw damaged('its format is unknown');
}
