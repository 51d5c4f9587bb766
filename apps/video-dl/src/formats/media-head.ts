import { createHash } from 'node:crypto';
import { maxElementHeaderBytes, readElementHeader } from './matroska/ebml.js';
import { childBoxes, isDamage, readBoxHeader } from './mp4/box.js';
import { assertNotEncrypted } from './mp4/encryption.js';
import { movieEssentials, readMovieHeader } from './mp4/movie-header.js';
import {
  hasOnlyAudio,
  type Probe,
  sampleEntryTypes,
  audioLength,
  indexedBytes,
  indexesSeveralFragments,
  type AudioLength,
  summariseMovie,
} from './mp4/movie-summary.js';
import { NotRemuxableError } from './mp4/remux/layout.js';
import { chunksOf, type Span } from './mp4/remux/samples.js';
import { id3TagBytes, startsWithFrames } from './mpeg-audio/frames.js';
import { measuredLength } from './mpeg-audio/measured-length.js';
import { readOggCodec } from './ogg/pages.js';
import { matroskaLength, type CorrectedLength } from './matroska/length.js';
import { MissingBytes, PartialFile, type FilePart, type FilePiece } from './partial-file.js';
import { protectedByDrm, Rejection } from './rejection.js';

/** Audio-only file formats. Opus in Ogg counts as its own format. */
export const audioFiles = ['m4a', 'mp3', 'ogg', 'opus', 'webm', 'flac', 'wav'] as const;
export type AudioFile = (typeof audioFiles)[number];

/** The parsed header of a file. */
export interface MediaHead {
  /** What ffprobe would report; null if only ffprobe can tell. */
  readonly probe: Omit<Probe, 'sizeBytes'> | null;
  /** Format of a file that may be sent unchanged; null for anything else. */
  readonly original: 'mp3' | 'mp4' | null;
  /** Format of an audio-only file; null for anything else. */
  readonly audioFile: AudioFile | null;
  /** The audio's exact length; null if the file doesn't state it. */
  readonly audioLength: AudioLength | null;
  /** The length to use instead of the one that the file states; null if that one may be true. */
  readonly correctedLength: CorrectedLength | null;
}

/** The bytes needed next, or the result. */
export type HeadStep =
  | { readonly kind: 'need'; readonly parts: readonly FilePart[] }
  | ({ readonly kind: 'head' } & MediaHead);

/** The index of a six-hour film at 60 frames per second has about 30 MB. */
const maxIndexBytes = 32 * 1024 ** 2;
const maxBoxes = 16;
/** Consecutive frames needed to rule out coincidence. */
const minChainFrames = 3;
const largestFrameBytes = 1441;

const nothing: MediaHead = {
  probe: null,
  original: null,
  audioFile: null,
  audioLength: null,
  correctedLength: null,
};

/**
 * Parses the header of a file, wherever it is in the file (ISO 14496-12, 4.2, 4.3).
 * @param pieces the parts read so far
 * @param totalBytes of the file, null while unknown
 * @param hasRanges whether single parts of the file can be read
 * @throws Rejection for an MP4 that is encrypted or has lost a part
 */
export function readHead(
  pieces: readonly FilePiece[],
  totalBytes: number | null,
  hasRanges = true,
): HeadStep {
  try {
    const file = new PartialFile(pieces);
    const start = file.read(0, 16);
    if (start.length < 16) return { kind: 'head', ...nothing };
    const isBox = /^[a-z]{4}$/.test(start.toString('latin1', 4, 8));
    if (isBox) return { kind: 'head', ...readMp4(file, totalBytes ?? Infinity, hasRanges) };
    return { kind: 'head', ...readOther(file, hasRanges ? totalBytes : null) };
  } catch (error) {
    if (error instanceof MissingBytes) return { kind: 'need', parts: error.parts };
    if (isDamage(error)) return { kind: 'head', ...nothing };
    throw error;
  }
}

/** The boxes of an MP4 that say what it contains, wherever they are (ISO 14496-12, 4.2, 4.3). */
export interface Mp4Structure {
  readonly movie: Buffer | undefined;
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
  return { movie, index, indexEnd, hasMedia: media.length > 0, isWhole };
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

/** After the last fragment there may be a list of random access points (`mfra`). */
const maxTrailerBytes = 16 * 1024;

function readMp4(file: PartialFile, totalBytes: number, hasRanges: boolean): MediaHead {
  const { movie, index, indexEnd, hasMedia, isWhole } = readStructure(file, totalBytes);
  if (movie === undefined) return nothing;
  assertNotEncrypted(movie);
  const stated = summariseMovie(movie) ?? null;
  const probe = stated && { ...stated, durationSeconds: withoutLead(stated.durationSeconds, movie) };
  // QuickTime uses the same boxes, but also features that MP4 players don't support.
  const start = file.read(0, 12);
  const isMp4 = start.toString('latin1', 4, 8) === 'ftyp' && start.toString('latin1', 8, 12) !== 'qt  ';
  // Apple's players reject HEVC under this name. A generated stream uses the other one.
  const isPlayable = probe !== null && !sampleEntryTypes(movie).includes('hev1');
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
    ...nothing,
    probe,
    original: isComplete && isMp4 && isPlayable ? 'mp4' : null,
    audioFile: isComplete && isMp4 && hasOnlyAudio(movie) ? 'm4a' : null,
    audioLength: (isComplete ? audioLength(movie, isIndexed ? index : undefined) : undefined) ?? null,
    correctedLength: isUnknown ? { seconds: null } : null,
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

/** @param totalBytes null if only the beginning can be read */
function readOther(file: PartialFile, totalBytes: number | null): MediaHead {
  const start = file.read(0, 12);
  const name = start.toString('latin1', 0, 4);
  if (name === 'OggS') return { ...nothing, audioFile: readOgg(file) };
  if (name === 'fLaC') return { ...nothing, audioFile: 'flac' };
  if (name === 'RIFF' && start.toString('latin1', 8, 12) === 'WAVE') return { ...nothing, audioFile: 'wav' };
  if (isAviWithoutSizes(start)) return { ...nothing, correctedLength: { seconds: null } };
  if (start.readUInt32BE(0) === ebmlId) {
    const correctedLength = totalBytes === null ? null : matroskaLength(file, totalBytes);
    return { ...nothing, audioFile: isWebmAudio(file) ? 'webm' : null, correctedLength };
  }
  const correctedLength = totalBytes === null ? null : measuredLength(file, totalBytes);
  return { ...readMp3(file), correctedLength };
}

/** Its writer couldn't go back to fill in sizes and lengths. */
function isAviWithoutSizes(start: Buffer): boolean {
  const isAvi = start.toString('latin1', 0, 4) === 'RIFF' && start.toString('latin1', 8, 12) === 'AVI ';
  return isAvi && [0, 0xffff_ffff].includes(start.readUInt32LE(4));
}

function readMp3(file: PartialFile): MediaHead {
  const tagBytes = id3TagBytes(file.read(0, 10));
  const audio = file.read(tagBytes, minChainFrames * largestFrameBytes);
  const name = startsWithFrames(audio, minChainFrames) ? 'mp3' : null;
  return { ...nothing, original: name, audioFile: name };
}

const oggHeadBytes = 512;
const beginsStream = 0x02;

/** The format if there is a single stream of a known codec. A video stream would start on the second page. */
function readOgg(file: PartialFile): AudioFile | null {
  const start = file.read(0, oggHeadBytes);
  const segments = start.subarray(27, 27 + start.readUInt8(26));
  const content = 27 + segments.length;
  const next = content + segments.reduce((sum, lacing) => sum + lacing, 0);
  const codec = readOggCodec(start.subarray(content, next))?.codec;
  if (codec === undefined || (start.readUInt8(next + 5) & beginsStream) !== 0) return null;
  return codec === 'opus' ? 'opus' : 'ogg';
}

const ebmlId = 0x1a45dfa3;
const matroska = { docType: 0x4282, segment: 0x18538067, tracks: 0x1654ae6b, entry: 0xae, type: 0x83 };
const audioTrack = 2;
/** Tags, indexes and covers may precede the tracks. */
const maxElements = 64;

/** Whether the file is a WebM with audio tracks only (RFC 9559, 5.1.4). */
function isWebmAudio(file: PartialFile): boolean {
  let isWebm = false;
  let offset = 0;
  for (let count = 0; count < maxElements; count += 1) {
    const header = readElementHeader(file.read(offset, maxElementHeaderBytes));
    if (!header) return false;
    const contentAt = offset + header.headerSize;
    if (header.id === ebmlId) {
      const head = file.read(contentAt, Math.min(header.size ?? 0, 256));
      isWebm = elements(head).some(
        ({ id, content }) => id === matroska.docType && content.toString('latin1') === 'webm',
      );
    }
    if (header.id === matroska.tracks) {
      const tracks = file.read(contentAt, Math.min(header.size ?? 0, maxIndexBytes));
      const types = elements(tracks).flatMap((entry) =>
        entry.id === matroska.entry ? trackType(entry.content) : [],
      );
      return isWebm && types.length > 0 && types.every((type) => type === audioTrack);
    }
    // The tracks are children of the segment, so enter it; skip everything else.
    if (header.id === matroska.segment) offset = contentAt;
    else if (header.size === null) return false;
    else offset = contentAt + header.size;
  }
  return false;
}

function trackType(entry: Buffer): number {
  return elements(entry).find(({ id }) => id === matroska.type)?.content[0] ?? 0;
}

/** Consecutive elements, up to the first incomplete one. */
function elements(bytes: Buffer): { id: number; content: Buffer }[] {
  const found: { id: number; content: Buffer }[] = [];
  for (let at = 0; at < bytes.length && found.length < maxElements;) {
    const header = readElementHeader(bytes, at);
    if (!header || header.size === null) break;
    const end = at + header.headerSize + header.size;
    found.push({ id: header.id, content: bytes.subarray(at + header.headerSize, end) });
    at = end;
  }
  return found;
}

/**
 * A digest of the parts of an initialisation segment that its fragments depend on. Segments
 * with the same digest can be joined.
 * @returns null if it isn't MP4, which the joiner checks
 */
export function initialisationDigest(bytes: Buffer): string | null {
  try {
    const movie = childBoxes(bytes, 0).find(({ type }) => type === 'moov');
    if (movie === undefined) return null;
    return createHash('sha256').update(movieEssentials(movie.bytes)).digest('base64url');
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}
