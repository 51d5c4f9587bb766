import { createHash } from 'node:crypto';
import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { damagedFile, protectedByDrm } from '../rejection.js';
import { readMp3FrameHeader } from '../mpeg-audio/frames.js';
import { childBoxes, isDamage, readBoxHeader, requiredBox } from './box.js';
import { movieEssentials } from './movie-essentials.js';
import {
  assertNotEncrypted,
  durationField,
  type MovieHeader,
  readMovieHeader,
  sampleEntries,
} from './movie-header.js';
import { audioLength, summariseMovie } from './movie-summary.js';
import { maxTrailerBytes, readSegmentIndex, type SegmentIndex } from './segment-index.js';
import { chunksOf, sampleSpans, type Span } from './remux/sample-tables.js';

/** The index of a six-hour film at 60 frames per second has about 30 MB. */
const maxIndexBytes = 32 * 1024 ** 2;
const maxBoxes = 16;
/** Requested behind an index, to see what follows it without another request. */
const lookAheadBytes = 4096;

/** The boxes of an MP4 that say what it contains, wherever they are (ISO 14496-12, 4.2, 4.3). */
export interface Mp4Structure {
  readonly movie: MovieHeader | undefined;
  readonly movieAt: number;
  /** Of a fragmented file, and where its box ends. */
  readonly index: (SegmentIndex & { readonly end: number }) | undefined;
  /** Where the last sample that `moov` lists ends; 0 if it lists none. */
  readonly samplesEnd: number;
  readonly hasMedia: boolean;
  /** Whether the size is known, no box seen extends past it, and `mdat` boxes hold all samples that `moov` lists. */
  readonly isWhole: boolean;
}

/** @param totalBytes of the file; Infinity while unknown. @throws MissingBytes, Mp4FormatError, RangeError, Rejection */
export function readStructure(file: PartialFile, totalBytes: number): Mp4Structure {
  let movie: MovieHeader | undefined;
  let movieAt = 0;
  let samplesEnd: number | null = 0;
  let index: Mp4Structure['index'];
  const media: Span[] = [];
  let isWhole = Number.isFinite(totalBytes);
  let offset = 0;
  for (let boxes = 0; boxes < maxBoxes && offset < totalBytes; boxes += 1) {
    const header = readBoxHeader(file.read(offset, 16));
    if (header === undefined) break;
    if (header.type === 'pssh') throw protectedByDrm();
    const end = header.size === Infinity ? totalBytes : offset + header.size;
    const isIndex = header.type === 'moov' || header.type === 'sidx';
    if (end > totalBytes) isWhole = false;
    if (isIndex && (end > totalBytes || end - offset > maxIndexBytes)) break;
    if (header.type === 'moov') {
      movie = readMovieHeader(file.read(offset, end - offset, lookAheadBytes));
      movieAt = offset;
      samplesEnd = endOfSamples(movie);
    }
    if (header.type === 'sidx')
      index ??= { ...readSegmentIndex(file.read(offset, end - offset, lookAheadBytes)), end };
    if (header.type === 'mdat') media.push({ start: offset + header.headerSize, end });
    // In a file that isn't whole anyway, no other media are looked for.
    const wantedEnd = isWhole ? (samplesEnd ?? 0) : 0;
    if (movie !== undefined && media.some((box) => box.end >= wantedEnd)) break;
    // In a file of unknown size, nothing after the media can be read.
    if (end === Infinity) break;
    offset = end;
  }
  if (movie !== undefined && isWhole) isWhole = samplesEnd !== null && holdsSamples(media, movie, movieAt);
  return { movie, movieAt, index, samplesEnd: samplesEnd ?? 0, hasMedia: media.length > 0, isWhole };
}

/** Null if the tables of the samples are unusable. */
function endOfSamples({ tracks }: MovieHeader): number | null {
  let last = 0;
  try {
    for (const { end } of sampleSpans(tracks)) last = Math.max(last, end);
    return last;
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

/**
 * Whether these boxes hold all samples of a movie.
 * @throws Rejection for samples inside `moov`, which moved forward when a part of the file was lost
 */
function holdsSamples(media: readonly Span[], { moov, tracks }: MovieHeader, movieAt: number): boolean {
  const isIn = (chunk: Span) => media.some(({ start, end }) => start <= chunk.start && chunk.end <= end);
  for (const chunk of sampleSpans(tracks)) {
    if (chunk.start === chunk.end || isIn(chunk)) continue;
    if (chunk.start < movieAt + moov.length && chunk.end > movieAt)
      throw damagedFile('a part of it is missing');
    return false;
  }
  return true;
}

/** Whether the only audio is MPEG Layer II, which MP4 names like MP3. Each frame begins with its layer (ISO 11172-3, 2.4.2.3). @throws MissingBytes */
function isLayerTwo({ tracks }: MovieHeader, file: PartialFile): boolean {
  const [track, second] = tracks.filter(({ handler }) => handler === 'soun');
  if (track === undefined || second !== undefined) return false;
  const [first] = chunksOf(track.stbl);
  const frame = first === undefined ? Buffer.alloc(0) : file.read(first.offset, 4);
  return frame.length === 4 && readMp3FrameHeader(frame.readUInt32BE()) === undefined;
}

/** @throws MissingBytes, Mp4FormatError, Rejection for a file that is encrypted or has lost a part */
export function readMp4(file: PartialFile, totalBytes: number, hasRanges: boolean): Partial<MediaHead> {
  const { movie, index, ...structure } = readStructure(file, totalBytes);
  if (movie === undefined) return {};
  assertNotEncrypted(movie);
  const { tracks, isFragmented } = movie;
  const probe = summariseMovie(movie) ?? null;
  for (const stream of probe?.streams ?? [])
    if (stream.codec === 'mp3' && isLayerTwo(movie, file)) stream.codec = 'mp2';
  // QuickTime uses the same boxes, but also features that MP4 players don't support.
  const start = file.read(0, 12);
  const isMp4 = start.toString('latin1', 4, 8) === 'ftyp' && start.toString('latin1', 8, 12) !== 'qt  ';
  // Apple's players reject these. A generated stream has the parameter sets in its header.
  const entries = tracks.flatMap(sampleEntries).map(({ type }) => type);
  const isPlayable = probe !== null && !entries.includes('hev1') && !entries.includes('avc3');
  const handlers = tracks.map(({ handler }) => handler);
  const hasOnlyAudio = handlers.includes('soun') && !handlers.includes('vide');
  // Fragments up to the end that one index lists are those of one file.
  const indexedEnd = index === undefined ? 0 : index.end + index.bytes;
  const isIndexed = indexedEnd >= totalBytes - maxTrailerBytes;
  // A server without ranges may have cut its response.
  if (hasRanges && Math.max(indexedEnd, structure.samplesEnd) > totalBytes)
    throw damagedFile('a part of it is missing');
  const isComplete = structure.isWhole && structure.hasMedia;
  // The movie's own length is that of the first fragment, and the others can't be looked at.
  const isUnknown = totalBytes === Infinity && isFragmented && (index?.parts.length ?? 0) <= 1;
  return {
    probe,
    original: isComplete && isMp4 && isPlayable ? 'mp4' : null,
    audioFile: isComplete && isMp4 && hasOnlyAudio ? 'm4a' : null,
    audioLength: (isComplete ? audioLength(movie, isIndexed ? index : undefined) : undefined) ?? null,
    correctedLength: isUnknown ? { seconds: null } : null,
    zeroed: isFragmented ? statedLengths(movie, structure.movieAt) : [],
  };
}

/**
 * Where a fragmented movie states lengths of tracks in their `mdhd`. Players of ISO 14496-12 expect 0 there, and
 * Apple's add it to the length of the fragments.
 */
function statedLengths({ moov, tracks }: MovieHeader, movieAt: number): Span[] {
  return tracks.flatMap(({ trak }) => {
    const header = requiredBox(trak, 'mdia', 'mdhd');
    const { at, bytes } = durationField(header);
    if (header.bytes.subarray(at, at + bytes).every((byte) => byte === 0)) return [];
    const start = movieAt + header.bytes.byteOffset - moov.byteOffset + at;
    return [{ start, end: start + bytes }];
  });
}

/**
 * A digest of the parts of an initialisation segment that its fragments depend on. Segments
 * with the same digest can be joined.
 * @param readsAudioOnly whether fragments of the video don't matter
 * @returns null if it isn't MP4, which the joiner checks
 */
export function initialisationDigest(bytes: Buffer, readsAudioOnly: boolean): string | null {
  try {
    const movie = childBoxes(bytes, 0).find(({ type }) => type === 'moov');
    if (movie === undefined) return null;
    const essentials = movieEssentials(readMovieHeader(movie.bytes), readsAudioOnly);
    return createHash('sha256').update(essentials).digest('base64url');
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}
