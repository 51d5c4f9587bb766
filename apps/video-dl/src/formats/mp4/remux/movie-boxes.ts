import type { Chapter } from '../../chapters.js';
import {
  type Box,
  childBoxes,
  fullBox,
  int64,
  isLong,
  makeBox,
  requiredBox,
  uint32,
  uint64,
} from '../box.js';
import { chapterList } from '../movie-changes.js';
import type { Layout } from './layout.js';
import type { SourceTrack } from './source-tracks.js';

/** A track of the output, which keeps the sample description of its source. */
export interface OutputTrack extends SourceTrack {
  /** Of all samples. */
  readonly mediaSeconds: number;
  /** The boxes in `stbl` after the sample description. */
  readonly tables: readonly Buffer[];
}

/** An MP4 of these pieces of the sources, behind a header. */
export function layoutOf(
  tracks: readonly OutputTrack[],
  header: readonly Buffer[],
  pieces: readonly { readonly source: number; readonly offset: number; readonly bytes: number }[],
): Layout {
  return {
    header: Buffer.concat(header),
    sources: Uint8Array.from(pieces, ({ source }) => source),
    offsets: Float64Array.from(pieces, ({ offset }) => offset),
    lengths: Float64Array.from(pieces, ({ bytes }) => bytes),
    tracks: tracks.map((track) => ({
      type: track.handler === 'vide' ? 'video' : 'audio',
      codec: track.description.codec,
      seconds: playedSeconds(track),
    })),
    fragmentTracks: null,
  };
}

function playedSeconds({ edits, movieTimescale, mediaSeconds }: OutputTrack): number {
  const edited = edits.reduce((sum, { duration }) => sum + duration, 0);
  return edited === 0 ? mediaSeconds : edited / movieTimescale;
}

/** The `moov` box of the output, whose tracks are numbered from 1. */
export function movieBox(tracks: readonly OutputTrack[], ...others: readonly Buffer[]): Buffer {
  const timescale = timescaleOf(tracks);
  return makeBox('moov', [
    movieHeader(timescale, movieDuration(tracks)),
    ...tracks.map((track, index) => trackBox(track, index + 1, timescale)),
    ...others,
  ]);
}

function timescaleOf(tracks: readonly OutputTrack[]): number {
  return Math.max(...tracks.map(({ movieTimescale }) => movieTimescale));
}

/** In units of the output's movie timescale. */
export function movieDuration(tracks: readonly OutputTrack[]): number {
  return Math.round(Math.max(...tracks.map(playedSeconds)) * timescaleOf(tracks));
}

function trackBox(track: OutputTrack, id: number, movieTimescale: number): Buffer {
  const { trak, handler, timescale, edits, description, mediaSeconds, tables } = track;
  const isVideo = handler === 'vide';
  const mediaHeader = isVideo ? fullBox('vmhd', 0, 1, [Buffer.alloc(8)]) : fullBox('smhd', 0, 0, [uint32(0)]);
  const scale = movieTimescale / track.movieTimescale;
  const entries = edits.flatMap(({ duration, mediaTime }) => [
    ...[uint64(Math.round(duration * scale)), int64(mediaTime), uint32(0x1_0000)],
  ]);
  return makeBox('trak', [
    trackHeader(trak, id, Math.round(playedSeconds(track) * movieTimescale)),
    ...(edits.length === 0
      ? []
      : [makeBox('edts', [fullBox('elst', 1, 0, [uint32(edits.length), ...entries])])]),
    makeBox('mdia', [
      fullBox('mdhd', 1, 0, [
        ...[uint64(0), uint64(0), uint32(timescale)],
        ...[uint64(Math.round(mediaSeconds * timescale)), languageOf(trak), Buffer.alloc(2)],
      ]),
      handlerBox(handler, isVideo ? 'VideoHandler' : 'SoundHandler'),
      makeBox('minf', [mediaHeader, selfContained(), makeBox('stbl', [description.bytes, ...tables])]),
    ]),
    ...childBoxes(trak.bytes).flatMap(({ type, bytes }) =>
      type === 'uuid' && bytes.subarray(8, 24).equals(spherical) ? [bytes] : [],
    ),
  ]);
}

/** Its box says that the video shows all directions (Google's Spherical Video V1; V2 is in the sample description). */
const spherical = Buffer.from('ffcc8263f8554a938814587a02521fdd', 'hex');

/** `und`, packed. */
const undetermined = Buffer.from([0x55, 0xc4]);

function languageOf(trak: Box): Buffer {
  const header = requiredBox(trak, 'mdia', 'mdhd');
  const at = isLong(header) ? 40 : 28;
  const language = header.bytes.subarray(at, at + 2);
  // Codes below this are Macintosh languages of QuickTime; MP4 has three packed letters.
  const isPacked = language.readUInt16BE(0) >= 0x400 && language.readUInt16BE(0) < 0x7fff;
  return isPacked ? language : undetermined;
}

function trackHeader(trak: Box, id: number, duration: number): Buffer {
  const header = requiredBox(trak, 'tkhd');
  const at = isLong(header) ? 44 : 32;
  // Reserved fields, layer, group, volume, matrix, width and height.
  const rest = Buffer.from(header.bytes.subarray(at, at + 60));
  // No alternatives to a track remain.
  rest.writeUInt16BE(0, 10);
  // Enabled, in the movie.
  return fullBox('tkhd', 1, 3, [uint64(0), uint64(0), uint32(id), uint32(0), uint64(duration), rest]);
}

export function handlerBox(handler: string, name: string): Buffer {
  return fullBox('hdlr', 0, 0, [uint32(0), Buffer.from(handler), Buffer.alloc(12), Buffer.from(`${name}\0`)]);
}

export function selfContained(): Buffer {
  return makeBox('dinf', [fullBox('dref', 0, 0, [uint32(1), fullBox('url ', 0, 1, [])])]);
}

export const unityMatrix = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000].map(uint32);

function movieHeader(timescale: number, duration: number): Buffer {
  return fullBox('mvhd', 1, 0, [
    ...[uint64(0), uint64(0), uint32(timescale), uint64(duration)],
    ...[uint32(0x1_0000), Buffer.from([1, 0]), Buffer.alloc(10), ...unityMatrix, Buffer.alloc(24)],
    // The next track id.
    uint32(3),
  ]);
}

/** Text that players show, and chapters. */
export interface Tags {
  readonly title: string;
  readonly artist: string | null;
  readonly comment: string;
  readonly chapters: readonly Chapter[];
}

const textType = 1;

/** iTunes tags, which players look for in any MP4. */
export function tagsBox({ title, artist, comment, chapters }: Tags): Buffer {
  const tag = (name: string, text: string | null) => {
    const data = [uint32(textType), uint32(0), Buffer.from((text ?? '').slice(0, maxTagLength))];
    return text === null || text === '' ? [] : [makeBox(name, [makeBox('data', data)])];
  };
  const list = makeBox('ilst', [...tag('©nam', title), ...tag('©ART', artist), ...tag('©cmt', comment)]);
  const handler = fullBox('hdlr', 0, 0, [uint32(0), Buffer.from('mdirappl'), Buffer.alloc(9)]);
  const meta = fullBox('meta', 0, 0, [handler, list]);
  return makeBox('udta', chapters.length === 0 ? [meta] : [meta, chapterList(chapters)]);
}

const maxTagLength = 4096;

/** @param brands the main one first */
export function fileType(brands: readonly string[]): Buffer {
  return makeBox('ftyp', [Buffer.from(brands[0] ?? ''), uint32(0x200), Buffer.from(brands.join(''))]);
}

const noEntries = uint32(0);
/** Of a track whose samples are all in fragments. */
export const emptyTables = [
  ...['stts', 'stsc', 'stco'].map((type) => fullBox(type, 0, 0, [noEntries])),
  fullBox('stsz', 0, 0, [noEntries, noEntries]),
];
