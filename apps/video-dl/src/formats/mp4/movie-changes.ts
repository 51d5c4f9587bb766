import { type Chapter, utf8Start } from '../chapters.js';
import type { Cover } from '../cover.js';
import {
  type Box,
  childBoxes,
  fullBox,
  isLong,
  makeBox,
  requiredBox,
  uint32,
  uint64,
  withChildren,
} from './box.js';
import { durationField, readMovieHeader } from './movie-header.js';

const maxUint32 = 0xffff_ffff;

/**
 * The moov box of a fragmented MP4 with its duration, which ffmpeg leaves at 0 because it can't
 * go back on a pipe. Sets it in mvhd, in each tkhd, and in a mehd box, where ISO 14496-12 8.8.2 puts the
 * duration of a fragmented movie. Each mdhd gets 0, the duration of the samples in moov: Apple's players
 * add it to that of the fragments.
 */
export function withMovieDuration(moov: Buffer, seconds: number): Buffer {
  const changed = Buffer.from(moov);
  const { header, timescale, tracks } = readMovieHeader(changed);
  const duration = Math.round(seconds * timescale);
  writeDuration(header, duration);
  for (const { trak } of tracks) {
    writeDuration(requiredBox(trak, 'tkhd'), duration);
    writeDuration(requiredBox(trak, 'mdia', 'mdhd'), 0);
  }
  const mehd = fullBox('mehd', 1, 0, [uint64(duration)]);
  return withChildren(changed, ({ type, bytes }) => {
    if (type !== 'mvex') return [bytes];
    const others = withChildren(bytes, (child) => (child.type === 'mehd' ? [] : [child.bytes]));
    return [makeBox('mvex', [mehd, others.subarray(8)])];
  });
}

/**
 * The moov box whose tracks have one sample entry each. Newer versions of ffmpeg add another for parameter sets
 * that a filter has found in the media, although no fragment refers to it.
 */
export function withOneEntry(box: Buffer): Buffer {
  return withChildren(box, ({ type, bytes }) => {
    if (['trak', 'mdia', 'minf', 'stbl'].includes(type)) return [withOneEntry(bytes)];
    const [entry] = type === 'stsd' ? childBoxes(bytes, 16) : [];
    return [entry === undefined ? bytes : fullBox('stsd', 0, 0, [uint32(1), entry.bytes])];
  });
}

/** @param box an mvhd, mdhd or tkhd, changed in place */
function writeDuration(box: Box, duration: number): void {
  const { at } = durationField(box);
  if (isLong(box)) box.bytes.writeBigUInt64BE(BigInt(duration), at);
  // A duration that exceeds 32 bits stays unknown here; mehd has 64 bits.
  else if (duration < maxUint32) box.bytes.writeUInt32BE(duration, at);
}

/** The moov box without these tracks. @param ids of the tracks to leave out */
export function withoutTracks(moov: Buffer, ids: ReadonlySet<number>): Buffer {
  if (ids.size === 0) return moov;
  const omitted = readMovieHeader(moov).tracks.filter(({ id }) => ids.has(id));
  return withChildren(moov, ({ type, bytes }) => {
    if (omitted.some(({ trak }) => trak.bytes.byteOffset === bytes.byteOffset)) return [];
    if (type !== 'mvex') return [bytes];
    const isOmitted = (child: Box) => child.type === 'trex' && ids.has(child.bytes.readUInt32BE(12));
    return [withChildren(bytes, (child) => (isOmitted(child) ? [] : [child.bytes]))];
  });
}

/** Types of data in a tag of iTunes, which players look for in any MP4. */
const imageTypes = { 'image/jpeg': 13, 'image/png': 14 };

/** The moov box with a cover next to the tags that ffmpeg writes; unchanged if there are no tags. */
export function withCover(moov: Buffer, { bytes, mediaType }: Cover): Buffer {
  // A type, then a language, which is 0.
  const data = makeBox('data', [uint32(imageTypes[mediaType]), uint32(0), Buffer.from(bytes)]);
  return withAppended(moov, ['udta', 'meta', 'ilst'], makeBox('covr', [data]));
}

/** The moov box with a list of chapters next to the tags that ffmpeg writes; unchanged if there are no tags. */
export function withChapters(moov: Buffer, chapters: readonly Chapter[]): Buffer {
  return withAppended(moov, ['udta'], chapterList(chapters));
}

const maxChapters = 255;

/** Nero's list, which VLC, mpv, ffmpeg, MediaInfo and ExoPlayer read. Its times are in units of 100 ns. */
export function chapterList(chapters: readonly Chapter[]): Buffer {
  const listed = chapters.slice(0, maxChapters);
  const entries = listed.flatMap(({ title, startSeconds }) => {
    const text = utf8Start(title, 255);
    return [uint64(Math.round(startSeconds * 1e7)), Buffer.from([text.length]), text];
  });
  return fullBox('chpl', 1, 0, [Buffer.from([0, 0, 0, 0, listed.length]), ...entries]);
}

/** The box with another one at the end of the one at this path below it. */
function withAppended(box: Buffer, [next, ...path]: readonly string[], added: Buffer): Buffer {
  const type = box.toString('latin1', 4, 8);
  if (next === undefined) return makeBox(type, [box.subarray(8), added]);
  // The only full box on the way.
  const skip = type === 'meta' ? 12 : 8;
  const children = childBoxes(box, skip).map((child) =>
    child.type === next ? withAppended(child.bytes, path, added) : child.bytes,
  );
  return makeBox(type, [box.subarray(8, skip), ...children]);
}
