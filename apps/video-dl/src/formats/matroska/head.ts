import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { childrenOf, elementsIn, matroskaIds, unsignedIn } from './ebml.js';

/** RFC 9559, 5.1. */
const ids = { docType: 0x4282, tracks: 0x1654ae6b, track: 0xae, trackType: 0x83 };

const audioType = 2;
/** Tags, indexes and covers may precede the tracks. */
const maxFrontElements = 64;
const maxFrontBytes = 32 * 1024 ** 2;

/** @throws MissingBytes */
export function readMatroska(file: PartialFile): Partial<MediaHead> {
  let docType = '';
  const trackTypes: number[] = [];
  const front = elementsIn((at, length) => file.read(at, length), [matroskaIds.segment], maxFrontElements);
  for (const { id, content } of front) {
    if (id === matroskaIds.cluster || trackTypes.length > 0) break;
    if (id !== matroskaIds.header && id !== ids.tracks) continue;
    for (const child of childrenOf(content(maxFrontBytes), [ids.track])) {
      if (child.id === ids.docType) docType = child.content().toString('latin1');
      else if (child.id === ids.trackType) trackTypes.push(unsignedIn(child));
    }
  }
  const isAudio = trackTypes.length > 0 && trackTypes.every((type) => type === audioType);
  return { audioFile: docType === 'webm' && isAudio ? 'webm' : null };
}
