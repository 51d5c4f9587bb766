import { createHash } from 'node:crypto';
import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { protectedByDrm, Rejection } from '../rejection.js';
import { readMp3FrameHeader } from '../mpeg-audio/frames.js';
import { childBoxes, findBox, isDamage, readBoxHeader } from './box.js';
import { assertNotEncrypted } from './encryption.js';
import { movieEssentials, readMovieHeader, trackLengthFields } from './movie-header.js';
import type { ProbedStream } from '../probed.js';
import { handlerOf } from './movie-header.js';
import { audioLength, hasOnlyAudio, sampleEntryTypes, summariseMovie } from './movie-summary.js';
import { indexedBytes, indexesSeveralFragments } from './segment-index.js';
import { NotRemuxableError } from './remux/layout.js';
import { chunksOf, type Span } from './remux/sample-tables.js';

/** The index of a six-hour film at 60 frames per second has about 30 MB. */
const maxIndexBytes = 32 * 1024 ** 2;
const maxBoxes = 16;

/** The boxes of an MP4 that say what it contains, wherever they are (ISO 14496-12, 4.2, 4.3). */
export interface Mp4Structure {
  readonly movie: Buffer | undefined;
  readonly movieAt: number;
  /** The `sidx` box of a fragmented file. */
  readonly index: Buffer | undefined;
  readonly indexEnd: number;
  readonly hasMedia: boolean;
  /** Whether the size is known, no box seen extends past it, and `mdat` boxes hold all samples that `moov` lists. */
  readonly isWhole: boolean;
}

/** @param totalBytes of the file; Infinity while unknown. @throws MissingBytes, Mp4FormatError, Rejection */
export function readStructure(file: PartialFile, totalBytes: number): Mp4Structure {
  let movie: Buffer | undefined;
  let index: Buffer | undefined;
  let indexEnd = 0;
  let movieAt = 0;
  let lastSampleEnd = 0;
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
      movie = file.readBox(offset, end - offset);
      movieAt = offset;
      // In a file that isn't whole anyway, no other media are looked for.
      lastSampleEnd = isWhole ? endOfSamples(movie) : 0;
    }
    if (header.type === 'sidx' && index === undefined) {
      index = file.readBox(offset, end - offset);
      indexEnd = end;
    }
    if (header.type === 'mdat') media.push({ start: offset + header.headerSize, end });
    const mediaEnd = media.at(-1)?.end;
    if (movie !== undefined && mediaEnd !== undefined && mediaEnd >= lastSampleEnd) break;
    // In a file of unknown size, nothing after the media can be read.
    if (end === Infinity) break;
    offset = end;
  }
  if (movie !== undefined && isWhole) isWhole = holdsSamples(media, movie, movieAt);
  return { movie, movieAt, index, indexEnd, hasMedia: media.length > 0, isWhole };
}

/** 0 if the tables of the samples are unusable. */
function endOfSamples(movie: Buffer): number {
  let last = 0;
  try {
    for (const { end } of chunksOf(movie)) last = Math.max(last, end);
    return last;
  } catch (error) {
    if (error instanceof NotRemuxableError || isDamage(error)) return 0;
    throw error;
  }
}

/**
 * Whether these boxes hold all samples of a movie.
 * @throws Rejection for samples inside `moov`, which moved forward when a part of the file was lost
 */
function holdsSamples(media: readonly Span[], movie: Buffer, movieAt: number): boolean {
  const isIn = (chunk: Span) => media.some(({ start, end }) => start <= chunk.start && chunk.end <= end);
  try {
    for (const chunk of chunksOf(movie)) {
      if (chunk.start === chunk.end || isIn(chunk)) continue;
      if (chunk.start < movieAt + movie.length && chunk.end > movieAt) throw incomplete();
      return false;
    }
    return true;
  } catch (error) {
    if (error instanceof NotRemuxableError || isDamage(error)) return false;
    throw error;
  }
}

function incomplete(): Rejection {
  return new Rejection(
    'no_media',
    "The site's file is damaged: a part of it is missing. Check that it plays in a browser.",
  );
}

/** MP4 names MPEG Layer II like MP3. Each frame begins with its layer (ISO 11172-3, 2.4.2.3). @throws MissingBytes */
function withTrueLayer(streams: readonly ProbedStream[], movie: Buffer, file: PartialFile): ProbedStream[] {
  const track = childBoxes(movie).find((box) => box.type === 'trak' && handlerOf(box) === 'soun');
  const [only, second] = streams.filter(({ type }) => type === 'audio');
  const offsets = track && findBox(track, 'mdia', 'minf', 'stbl', 'stco')?.bytes;
  if (only?.codec !== 'mp3' || second !== undefined || offsets === undefined || offsets.length < 20)
    return [...streams];
  const frame = file.read(offsets.readUInt32BE(16), 4);
  const isMp3 = frame.length < 4 || readMp3FrameHeader(frame.readUInt32BE()) !== undefined;
  return streams.map((stream) => (stream === only && !isMp3 ? { ...stream, codec: 'mp2' } : stream));
}

/** After the last fragment there may be a list of random access points (`mfra`). */
const maxTrailerBytes = 16 * 1024;

/** @throws MissingBytes, Mp4FormatError, Rejection for a file that is encrypted or has lost a part */
export function readMp4(file: PartialFile, totalBytes: number, hasRanges: boolean): Partial<MediaHead> {
  const { movie, movieAt, index, indexEnd, hasMedia, isWhole } = readStructure(file, totalBytes);
  if (movie === undefined) return {};
  assertNotEncrypted(movie);
  const stated = summariseMovie(movie) ?? null;
  const probe = stated && {
    ...stated,
    durationSeconds: withoutLead(stated.durationSeconds, movie),
    streams: withTrueLayer(stated.streams, movie, file),
  };
  // QuickTime uses the same boxes, but also features that MP4 players don't support.
  const start = file.read(0, 12);
  const isMp4 = start.toString('latin1', 4, 8) === 'ftyp' && start.toString('latin1', 8, 12) !== 'qt  ';
  // Apple's players reject these. A generated stream has the parameter sets in its header.
  const entries = sampleEntryTypes(movie);
  const isPlayable = probe !== null && !entries.includes('hev1') && !entries.includes('avc3');
  // Fragments up to the end that one index lists are those of one file.
  const indexedEnd = index === undefined ? 0 : indexEnd + indexedBytes(index);
  const isIndexed = indexedEnd >= totalBytes - maxTrailerBytes;
  // A server without ranges may have cut its response.
  if (hasRanges && Math.max(indexedEnd, endOfSamples(movie)) > totalBytes) throw incomplete();
  const isComplete = isWhole && hasMedia;
  // The movie's own length is that of the first fragment, and the others can't be looked at.
  const isUnknown =
    totalBytes === Infinity &&
    isFragmented(movie) &&
    (index === undefined || !indexesSeveralFragments(index));
  return {
    probe,
    original: isComplete && isMp4 && isPlayable ? 'mp4' : null,
    audioFile: isComplete && isMp4 && hasOnlyAudio(movie) ? 'm4a' : null,
    audioLength: (isComplete ? audioLength(movie, isIndexed ? index : undefined) : undefined) ?? null,
    correctedLength: isUnknown ? { seconds: null } : null,
    zeroed: trackLengthFields(movie).map(({ start, end }) => ({
      start: movieAt + start,
      end: movieAt + end,
    })),
  };
}

/** The movie's duration counts from zero, even if all its tracks start later. */
function withoutLead(seconds: number | null, movie: Buffer): number | null {
  const media = readMovieHeader(movie).tracks.filter(({ handler }) => ['vide', 'soun'].includes(handler));
  const lead = Math.max(0, Math.min(...media.map(({ shiftSeconds }) => shiftSeconds)));
  return seconds === null || lead >= seconds ? seconds : seconds - lead;
}

function isFragmented(movie: Buffer): boolean {
  return childBoxes(movie).some(({ type }) => type === 'mvex');
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
    return createHash('sha256').update(movieEssentials(movie.bytes, readsAudioOnly)).digest('base64url');
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}
