import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { matroskaIds, maxElementHeaderBytes, readElementHeader } from './ebml.js';

/** RFC 9559, 5.1. */
const ids = { docType: 0x4282, tracks: 0x1654ae6b, track: 0xae, trackType: 0x83 };
/** Elements whose children come next. */
const entered = new Set<number>([matroskaIds.header, matroskaIds.segment, ids.tracks, ids.track]);

const audioType = 2;
/** Tags, indexes and covers may precede the tracks, each of which has about thirty. */
const maxElements = 10_000;
const maxDocTypeBytes = 16;

/** @throws MissingBytes */
export function readMatroska(file: PartialFile): Partial<MediaHead> {
  let docType = '';
  const types: (number | undefined)[] = [];
  let [at, end] = [0, Infinity];
  for (let elements = 0; elements < maxElements && at < end; elements += 1) {
    const header = readElementHeader(file.read(at, maxElementHeaderBytes));
    if (!header || header.id === matroskaIds.cluster) break;
    const { id, size } = header;
    at += header.headerSize;
    if (id === ids.docType) docType = file.read(at, Math.min(size ?? 0, maxDocTypeBytes)).toString('latin1');
    if (id === ids.tracks && size !== null) end = at + size;
    if (id === ids.trackType) types.push(file.read(at, 1)[0]);
    if (entered.has(id)) continue;
    if (size === null) break;
    at += size;
  }
  const isAudio = types.length > 0 && types.every((type) => type === audioType);
  return { audioFile: docType === 'webm' && isAudio ? 'webm' : null };
}
