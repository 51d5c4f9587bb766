import { type Chapter, utf8Start } from '../chapters.js';
import type { Cover } from '../cover.js';
import { type Box, childBoxes, findBox, makeBox, Mp4FormatError } from './box.js';
import { decoderConfigAt } from './sample-entry.js';

/** A track as the moov box describes it. */
export interface Mp4Track {
  id: number;
  /** `vide`, `soun`, … */
  handler: string;
  /** Units per second of the track's times. */
  timescale: number;
  /** Seconds by which the edit list shifts the track: presentation time = media time + shift. */
  shiftSeconds: number;
  /** The part of the shift by which the track starts later than the movie. */
  delaySeconds: number;
  /** Duration of samples for which a fragment states none, in units of `timescale`. */
  defaultSampleDuration: number;
}

export interface MovieHeader {
  tracks: Mp4Track[];
}

const maxUint32 = 0xffff_ffff;

/** Reads the tracks of a moov box. */
export function readMovieHeader(moov: Buffer): MovieHeader {
  const boxes = childBoxes(moov);
  const movieTimescale = readTimescale(only(boxes, 'mvhd'));
  const defaults = new Map(
    boxes
      .filter(({ type }) => type === 'mvex')
      .flatMap((mvex) => childBoxes(mvex.bytes))
      .filter(({ type }) => type === 'trex')
      .map(({ bytes }) => [bytes.readUInt32BE(12), bytes.readUInt32BE(20)]),
  );
  return {
    tracks: boxes
      .filter(({ type }) => type === 'trak')
      .map((trak) => {
        const track = readTrack(trak.bytes, movieTimescale);
        return { ...track, defaultSampleDuration: defaults.get(track.id) ?? 0 };
      }),
  };
}

/**
 * The moov box of a fragmented MP4 with its duration, which ffmpeg leaves at 0 because it can't
 * go back on a pipe. Sets it in mvhd, in each tkhd, and in a mehd box, where ISO 14496-12 8.8.2 puts the
 * duration of a fragmented movie. Each mdhd gets 0, the duration of the samples in moov: Apple's players
 * add it to that of the fragments.
 */
export function withMovieDuration(moov: Buffer, seconds: number): Buffer {
  const boxes = childBoxes(moov);
  const movieTimescale = readTimescale(only(boxes, 'mvhd'));
  const movieDuration = Math.round(seconds * movieTimescale);
  return makeBox(
    'moov',
    boxes.map((box) => {
      if (box.type === 'mvhd') return withTimes(box, movieDuration);
      if (box.type === 'mvex') return withFragmentDuration(box, movieDuration);
      if (box.type === 'trak') return withTrackDuration(box, movieDuration);
      return box.bytes;
    }),
  );
}

/** The moov box without these tracks. @param ids of the tracks to leave out */
export function withoutTracks(moov: Buffer, ids: ReadonlySet<number>): Buffer {
  if (ids.size === 0) return moov;
  const isKept = ({ type, bytes }: Box): boolean => {
    if (type === 'trex') return !ids.has(bytes.readUInt32BE(12));
    return type !== 'trak' || !ids.has(readTrack(bytes, 1).id);
  };
  const boxes = childBoxes(moov).filter(isKept);
  return makeBox(
    'moov',
    boxes.map((box) =>
      box.type === 'mvex'
        ? makeBox(
            'mvex',
            childBoxes(box.bytes)
              .filter(isKept)
              .map(({ bytes }) => bytes),
          )
        : box.bytes,
    ),
  );
}

/** Types of data in a tag of iTunes, which players look for in any MP4. */
const imageTypes = { 'image/jpeg': 13, 'image/png': 14 };

/**
 * Where a fragmented movie states lengths of tracks in their `mdhd`: offsets from the start of `moov`. Players of
 * ISO 14496-12 expect 0 there, and Apple's add it to the length of the fragments.
 */
export function trackLengthFields(moov: Buffer): { start: number; end: number }[] {
  const boxes = childBoxes(moov);
  if (!boxes.some(({ type }) => type === 'mvex')) return [];
  return boxes.flatMap((trak) => {
    const mdhd = trak.type === 'trak' ? findBox(trak, 'mdia', 'mdhd') : undefined;
    if (mdhd === undefined) return [];
    const [at, size] = version(mdhd) === 1 ? [4 + 8 + 8 + 4, 8] : [4 + 4 + 4 + 4, 4];
    const start = mdhd.bytes.byteOffset - moov.byteOffset + mdhd.headerSize + at;
    const end = start + size;
    return moov.subarray(start, end).every((byte) => byte === 0) ? [] : [{ start, end }];
  });
}

/** The moov box with a cover next to the tags that ffmpeg writes; unchanged if there are no tags. */
export function withCover(moov: Buffer, { bytes, mediaType }: Cover): Buffer {
  // A type, then a language, which is 0.
  const header = Buffer.alloc(8);
  header.writeUInt32BE(imageTypes[mediaType]);
  const covr = makeBox('covr', [makeBox('data', [header, Buffer.from(bytes)])]);
  return withAppended({ type: 'moov', bytes: moov, headerSize: 8 }, ['udta', 'meta', 'ilst'], covr);
}

/** The moov box with a list of chapters next to the tags that ffmpeg writes; unchanged if there are no tags. */
export function withChapters(moov: Buffer, chapters: readonly Chapter[]): Buffer {
  return withAppended({ type: 'moov', bytes: moov, headerSize: 8 }, ['udta'], chapterList(chapters));
}

const maxChapters = 255;

/** Nero's list, which VLC, mpv, ffmpeg, MediaInfo and ExoPlayer read. Its times are in units of 100 ns. */
export function chapterList(chapters: readonly Chapter[]): Buffer {
  const listed = chapters.slice(0, maxChapters);
  const head = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, listed.length]);
  const entries = listed.map(({ title, startSeconds }) => {
    const text = utf8Start(title, 255);
    const entry = Buffer.alloc(9);
    entry.writeBigUInt64BE(BigInt(Math.round(startSeconds * 1e7)));
    entry.writeUInt8(text.length, 8);
    return Buffer.concat([entry, text]);
  });
  return makeBox('chpl', [head, ...entries]);
}

function withAppended(
  { type, bytes, headerSize }: Box,
  [next, ...path]: readonly string[],
  added: Buffer,
): Buffer {
  if (next === undefined) return makeBox(type, [bytes.subarray(headerSize), added]);
  const flagBytes = type === 'meta' ? 4 : 0;
  const children = childBoxes(bytes, headerSize + flagBytes).map((child) =>
    child.type === next ? withAppended(child, path, added) : child.bytes,
  );
  return makeBox(type, [bytes.subarray(headerSize, headerSize + flagBytes), ...children]);
}

function withTrackDuration(trak: Box, movieDuration: number): Buffer {
  return makeBox(
    'trak',
    childBoxes(trak.bytes).map((box) => {
      if (box.type === 'tkhd') return withTrackTimes(box, movieDuration);
      if (box.type !== 'mdia') return box.bytes;
      const children = childBoxes(box.bytes);
      return makeBox(
        'mdia',
        children.map((child) => (child.type === 'mdhd' ? withTimes(child, 0) : child.bytes)),
      );
    }),
  );
}

/** mvhd and mdhd: version, flags, creation, modification, timescale, duration. */
function withTimes(box: Box, duration: number): Buffer {
  const offset = box.headerSize + (version(box) === 1 ? 4 + 8 + 8 + 4 : 4 + 4 + 4 + 4);
  return withDurationAt(box, offset, duration);
}

/** tkhd: version, flags, creation, modification, track id, reserved, duration. */
function withTrackTimes(box: Box, duration: number): Buffer {
  const offset = box.headerSize + (version(box) === 1 ? 4 + 8 + 8 + 4 + 4 : 4 + 4 + 4 + 4 + 4);
  return withDurationAt(box, offset, duration);
}

function withDurationAt(box: Box, offset: number, duration: number): Buffer {
  const bytes = Buffer.from(box.bytes);
  if (version(box) === 1) bytes.writeBigUInt64BE(BigInt(duration), offset);
  // A duration that exceeds 32 bits stays unknown here; mehd has 64 bits.
  else if (duration < maxUint32) bytes.writeUInt32BE(duration, offset);
  return bytes;
}

function withFragmentDuration(mvex: Box, duration: number): Buffer {
  const mehd = Buffer.alloc(12);
  mehd.writeUInt8(1);
  mehd.writeBigUInt64BE(BigInt(duration), 4);
  const others = childBoxes(mvex.bytes).filter(({ type }) => type !== 'mehd');
  return makeBox('mvex', [makeBox('mehd', [mehd]), ...others.map(({ bytes }) => bytes)]);
}

function readTrack(trak: Buffer, movieTimescale: number): Omit<Mp4Track, 'defaultSampleDuration'> {
  const boxes = childBoxes(trak);
  const tkhd = only(boxes, 'tkhd');
  const media = childBoxes(only(boxes, 'mdia').bytes);
  const timescale = readTimescale(only(media, 'mdhd'));
  const edits = boxes.find(({ type }) => type === 'edts');
  return {
    id: tkhd.bytes.readUInt32BE(tkhd.headerSize + (version(tkhd) === 1 ? 4 + 8 + 8 : 4 + 4 + 4)),
    handler: only(media, 'hdlr').bytes.toString('latin1', 16, 20),
    timescale,
    ...readShift(edits, movieTimescale, timescale),
  };
}

/** Empty edits (media time -1) delay a track. The first real edit skips the media before its start. */
function readShift(
  edts: Box | undefined,
  movieTimescale: number,
  timescale: number,
): Pick<Mp4Track, 'shiftSeconds' | 'delaySeconds'> {
  const elst = edts && findBox(edts, 'elst');
  let delaySeconds = 0;
  if (elst === undefined) return { shiftSeconds: 0, delaySeconds };
  const wide = version(elst) === 1;
  const count = elst.bytes.readUInt32BE(12);
  for (let index = 0; index < count; index += 1) {
    const offset = 16 + index * (wide ? 20 : 12);
    const length = wide ? Number(elst.bytes.readBigUInt64BE(offset)) : elst.bytes.readUInt32BE(offset);
    const start = wide ? Number(elst.bytes.readBigInt64BE(offset + 8)) : elst.bytes.readInt32BE(offset + 4);
    if (start >= 0) return { shiftSeconds: delaySeconds - start / timescale, delaySeconds };
    delaySeconds += length / movieTimescale;
  }
  return { shiftSeconds: delaySeconds, delaySeconds };
}

function readTimescale(box: Box): number {
  const timescale = box.bytes.readUInt32BE(box.headerSize + (version(box) === 1 ? 4 + 8 + 8 : 4 + 4 + 4));
  if (timescale === 0) throw new Mp4FormatError(`${box.type} has the timescale 0`);
  return timescale;
}

function version(box: Box): number {
  return box.bytes.readUInt8(box.headerSize);
}

function only(boxes: readonly Box[], type: string): Box {
  const box = boxes.find((candidate) => candidate.type === type);
  if (box === undefined) throw new Mp4FormatError(`the required ${type} box is missing`);
  return box;
}

/** The tracks of a fragmented movie, keyed by id; empty if the movie isn't fragmented. */
export function fragmentedTracks(moov: Buffer): Map<number, Mp4Track> {
  const isFragmented = childBoxes(moov).some(({ type }) => type === 'mvex');
  return new Map(isFragmented ? readMovieHeader(moov).tracks.map((track) => [track.id, track]) : []);
}

/**
 * The fields that two movie headers must share so that fragments made for one can be decoded
 * with the other: tracks, timescales, sample descriptions and defaults. Not the bit rates in a
 * description, which packagers measure, and not the edits, which only shift a track.
 * @param readsAudioOnly whether the video's encoding doesn't matter
 * @throws Mp4FormatError, RangeError for a damaged box
 */
export function movieEssentials(moov: Buffer, readsAudioOnly: boolean): Buffer {
  const matters = (handler: string) => !readsAudioOnly || handler === 'soun';
  const tracks = [...fragmentedTracks(moov).values()].filter(({ handler }) => matters(handler));
  const ids = new Set(tracks.map(({ id }) => id));
  const boxes = childBoxes(moov);
  const descriptions = boxes
    .filter((box) => box.type === 'trak' && matters(handlerOf(box)))
    .flatMap(sampleDescriptions);
  const defaults = boxes
    .filter(({ type }) => type === 'mvex')
    .flatMap(({ bytes }) => childBoxes(bytes))
    .filter(({ type, bytes }) => type === 'trex' && (!readsAudioOnly || ids.has(bytes.readUInt32BE(12))))
    .map(({ bytes }) => bytes);
  const numbers = tracks.map(({ id, timescale }) => Buffer.from(JSON.stringify([id, timescale])));
  return Buffer.concat([...numbers, ...descriptions, ...defaults]);
}

/** `vide`, `soun`, …; empty without one. */
export function handlerOf(trak: Box): string {
  return findBox(trak, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20) ?? '';
}

/** Sizes of a sample entry before its child boxes, by handler. */
const entryBytes: Partial<Record<string, number>> = { vide: 86, soun: 36 };

function sampleDescriptions(trak: Box): Buffer[] {
  const description = findBox(trak, 'mdia', 'minf', 'stbl', 'stsd');
  if (description === undefined) throw new Mp4FormatError('the required stsd box is missing');
  const handler = handlerOf(trak);
  return childBoxes(description.bytes, 16).flatMap(({ bytes }) => {
    const size = entryBytes[handler];
    // QuickTime's longer audio entries have their children at another offset.
    const isPlain = handler !== 'soun' || bytes.readUInt16BE(16) === 0;
    return size === undefined || !isPlain
      ? [bytes]
      : // The size includes the omitted box.
        [bytes.subarray(4, size), ...childBoxes(bytes, size).flatMap(withoutBitRate)];
  });
}

function withoutBitRate({ type, bytes }: Box): Buffer[] {
  if (type === 'btrt') return [];
  const at = type === 'esds' ? decoderConfigAt(bytes) : undefined;
  if (at === undefined) return [bytes];
  // Object type, stream type; buffer size, highest and average bit rate (ISO 14496-1, 7.2.6.6).
  return [bytes.subarray(0, at + 2), bytes.subarray(at + 13)];
}
