import type { Chapter } from '../../chapters.js';
import { type Box, childBoxes, findBox, makeBox } from '../box.js';
import { type LaidOutTrack, NotRemuxableError } from './layout.js';
import { chapterList } from '../movie-header.js';
import { readSampleDescription, type SampleDescription } from './sample-description.js';

/** One track of a source file. */
export interface SourceTrack {
  readonly trak: Box;
  readonly handler: 'vide' | 'soun';
  /** ffprobe's name. */
  readonly codec: string;
  /** Units per second of its times. */
  readonly timescale: number;
  /** Units per second of the durations in `tkhd` and of its edits. */
  readonly movieTimescale: number;
  readonly id: number;
  readonly stbl: Box;
  readonly stsd: Buffer;
  readonly descriptions: number;
  readonly edits: readonly Edit[];
}

/** A track and the file that it is read from. */
export interface ChosenTrack extends SourceTrack {
  readonly source: number;
}

/** One entry of an edit list (ISO 14496-12, 8.6.6). */
export interface Edit {
  /** In the movie's timescale. */
  readonly duration: number;
  /** In the track's timescale; -1 for a delay. */
  readonly mediaTime: number;
}

const maxEdits = 64;

/** Players know a few codecs, and the decoders of ffmpeg nearly all. */
type Reader = 'player' | 'decoder';

/**
 * The video and the audio track of a movie. Other tracks (time codes, GPS positions, subtitles) are ignored.
 * @throws NotRemuxableError if there are several tracks of one kind, or one has features that we don't support
 */
export function sourceTracks(moov: Buffer, reader: Reader = 'player'): SourceTrack[] {
  const boxes = childBoxes(moov);
  const movieTimescale = fields(only(boxes, 'mvhd')).timescale;
  const tracks = boxes
    .filter(({ type }) => type === 'trak')
    .flatMap((trak) => {
      const handler = findBox(trak, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20);
      return handler === 'vide' || handler === 'soun'
        ? [readTrack(trak, handler, { movieTimescale, reader })]
        : [];
    });
  for (const handler of reader === 'player' ? ['vide', 'soun'] : ['vide'])
    if (tracks.filter((track) => track.handler === handler).length > 1)
      throw new NotRemuxableError('it has several tracks of one kind');
  return tracks;
}

function readTrack(
  trak: Box,
  handler: 'vide' | 'soun',
  { movieTimescale, reader }: { movieTimescale: number; reader: Reader },
): SourceTrack {
  const media = required(trak, 'mdia');
  const header = fields(required(media, 'mdhd'));
  const stbl = required(media, 'minf', 'stbl');
  const description = required(stbl, 'stsd').bytes;
  const {
    bytes: stsd,
    codec,
    entries,
  } = reader === 'player' ? readSampleDescription(description, handler) : asItIs(description);
  const dataReference = findBox(media, 'minf', 'dinf', 'dref')?.bytes;
  // The flag says that the media are in the same file.
  if (dataReference === undefined || (dataReference.readUInt32BE(24) & 1) === 0)
    throw new NotRemuxableError('its media are in another file');
  const tkhd = required(trak, 'tkhd');
  return {
    trak,
    handler,
    codec,
    timescale: header.timescale,
    movieTimescale,
    id: tkhd.bytes.readUInt32BE(isLong(tkhd) ? 28 : 20),
    stbl,
    stsd,
    descriptions: entries,
    edits: readEdits(findBox(trak, 'edts', 'elst')),
  };
}

function asItIs(stsd: Buffer): SampleDescription {
  return { bytes: stsd, codec: 'unknown', entries: stsd.readUInt32BE(12) };
}

function readEdits(elst: Box | undefined): Edit[] {
  if (elst === undefined) return [];
  const count = elst.bytes.readUInt32BE(12);
  if (count > maxEdits) throw new NotRemuxableError('a track has too many edits');
  return Array.from({ length: count }, (_, index) => {
    const at = 16 + index * (isLong(elst) ? 20 : 12);
    const rateAt = at + (isLong(elst) ? 16 : 8);
    if (elst.bytes.readUInt32BE(rateAt) !== 0x1_0000)
      throw new NotRemuxableError('an edit changes the speed');
    return isLong(elst)
      ? {
          duration: Number(elst.bytes.readBigUInt64BE(at)),
          mediaTime: Number(elst.bytes.readBigInt64BE(at + 8)),
        }
      : { duration: elst.bytes.readUInt32BE(at), mediaTime: elst.bytes.readInt32BE(at + 4) };
  });
}

/** What the output has of a track. @param mediaSeconds of all its samples */
export function laidOut(track: SourceTrack, mediaSeconds: number): LaidOutTrack {
  const { handler, codec } = track;
  return {
    type: handler === 'vide' ? 'video' : 'audio',
    codec,
    seconds: playedSeconds(track, mediaSeconds),
  };
}

/** How long a track plays, in seconds. @param mediaSeconds of all its samples */
function playedSeconds({ edits, movieTimescale }: SourceTrack, mediaSeconds: number): number {
  const edited = edits.reduce((sum, { duration }) => sum + duration, 0);
  return edited === 0 ? mediaSeconds : edited / movieTimescale;
}

interface TrackTables {
  /** Of all samples. */
  readonly mediaSeconds: number;
  /** The boxes in `stbl` after the sample description. */
  readonly tables: readonly Buffer[];
}

/** The `moov` box of the output, whose tracks are numbered from 1. @param tables those of each track */
export function movieBox(
  tracks: readonly SourceTrack[],
  tables: readonly TrackTables[],
  ...others: readonly Buffer[]
): Buffer {
  const movieTimescale = timescaleOf(tracks);
  const seconds = tables.map(({ mediaSeconds }) => mediaSeconds);
  return makeBox('moov', [
    movieHeader(movieTimescale, movieDuration(tracks, seconds)),
    ...tracks.map((track, index) =>
      trackBox(track, {
        id: index + 1,
        movieTimescale,
        ...(tables[index] ?? { mediaSeconds: 0, tables: [] }),
      }),
    ),
    ...others,
  ]);
}

function timescaleOf(tracks: readonly SourceTrack[]): number {
  return Math.max(...tracks.map(({ movieTimescale }) => movieTimescale));
}

/** In units of the output's movie timescale. @param mediaSeconds of each track */
export function movieDuration(tracks: readonly SourceTrack[], mediaSeconds: readonly number[]): number {
  const seconds = tracks.map((track, index) => playedSeconds(track, mediaSeconds[index] ?? 0));
  return Math.round(Math.max(...seconds) * timescaleOf(tracks));
}

function trackBox(track: SourceTrack, output: TrackTables & { id: number; movieTimescale: number }): Buffer {
  const { id, movieTimescale, mediaSeconds, tables } = output;
  const scale = (duration: number) => Math.round((duration / track.movieTimescale) * movieTimescale);
  const { language, minf } = mediaFields(track);
  const movieDuration = Math.round(playedSeconds(track, mediaSeconds) * movieTimescale);
  return makeBox('trak', [
    trackHeader(required(track.trak, 'tkhd'), id, movieDuration),
    ...(track.edits.length === 0
      ? []
      : [
          makeBox('edts', [
            fullBox('elst', 1, 0, [
              uint32(track.edits.length),
              ...track.edits.map(({ duration, mediaTime }) =>
                Buffer.concat([uint64(scale(duration)), int64(mediaTime), uint32(0x1_0000)]),
              ),
            ]),
          ]),
        ]),
    makeBox('mdia', [
      fullBox('mdhd', 1, 0, [
        ...[uint64(0), uint64(0), uint32(track.timescale)],
        ...[uint64(Math.round(mediaSeconds * track.timescale)), language, Buffer.alloc(2)],
      ]),
      handlerBox(track.handler, track.handler === 'vide' ? 'VideoHandler' : 'SoundHandler'),
      makeBox('minf', [minf, selfContained(), makeBox('stbl', [track.stsd, ...tables])]),
    ]),
    ...childBoxes(track.trak.bytes).flatMap(({ type, bytes }) =>
      type === 'uuid' && bytes.subarray(8, 24).equals(spherical) ? [bytes] : [],
    ),
  ]);
}

/** Its box says that the video shows all directions (Google's Spherical Video V1; V2 is in the sample description). */
const spherical = Buffer.from('ffcc8263f8554a938814587a02521fdd', 'hex');

function mediaFields({ trak, handler }: SourceTrack): { language: Buffer; minf: Buffer } {
  const mdhd = required(trak, 'mdia', 'mdhd');
  const at = isLong(mdhd) ? 40 : 28;
  const language = mdhd.bytes.subarray(at, at + 2);
  // Codes below this are Macintosh languages of QuickTime; MP4 has three packed letters.
  const isPacked = language.readUInt16BE(0) >= 0x400 && language.readUInt16BE(0) < 0x7fff;
  return {
    language: isPacked ? language : undetermined,
    minf:
      handler === 'vide'
        ? fullBox('vmhd', 0, 1, [Buffer.alloc(8)])
        : fullBox('smhd', 0, 0, [Buffer.alloc(4)]),
  };
}

/** `und`, packed. */
const undetermined = Buffer.from([0x55, 0xc4]);

function trackHeader(tkhd: Box, id: number, duration: number): Buffer {
  // Reserved fields, layer, group, volume, matrix, width and height.
  const rest = Buffer.from(tkhd.bytes.subarray(isLong(tkhd) ? 44 : 32, isLong(tkhd) ? 104 : 92));
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
  const tag = (name: string, text: string | null) =>
    text === null || text === ''
      ? []
      : [
          makeBox(name, [
            makeBox('data', [uint32(textType), uint32(0), Buffer.from(text.slice(0, maxTagLength))]),
          ]),
        ];
  const list = makeBox('ilst', [...tag('©nam', title), ...tag('©ART', artist), ...tag('©cmt', comment)]);
  const handler = fullBox('hdlr', 0, 0, [uint32(0), Buffer.from('mdirappl'), Buffer.alloc(9)]);
  const meta = fullBox('meta', 0, 0, [handler, list]);
  return makeBox('udta', chapters.length === 0 ? [meta] : [meta, chapterList(chapters)]);
}

const maxTagLength = 4096;

/** @param brands the main one first */
export function fileType(brands: readonly string[]): Buffer {
  return makeBox('ftyp', [
    Buffer.from(brands.slice(0, 1).join('')),
    uint32(0x200),
    Buffer.from(brands.join('')),
  ]);
}

export function fullBox(type: string, version: number, flags: number, parts: readonly Buffer[]): Buffer {
  return makeBox(type, [uint32(version * 0x100_0000 + flags), ...parts]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

/** The timescale in `mvhd` and `mdhd`, which share a layout. */
function fields(box: Box): { timescale: number } {
  const timescale = box.bytes.readUInt32BE(isLong(box) ? 28 : 20);
  if (timescale === 0) throw new NotRemuxableError('it has the timescale 0');
  return { timescale };
}

function isLong({ bytes }: Box): boolean {
  return bytes.readUInt8(8) === 1;
}

function required(parent: Box, ...path: readonly string[]): Box {
  const box = findBox(parent, ...path);
  if (box === undefined) throw new NotRemuxableError(`it has no ${path.at(-1) ?? ''} box`);
  return box;
}

function only(boxes: readonly Box[], type: string): Box {
  const box = boxes.find((candidate) => candidate.type === type);
  if (box === undefined) throw new NotRemuxableError(`it has no ${type} box`);
  return box;
}

const noEntries = uint32(0);
/** Of a track whose samples are all in fragments. */
export const emptyTables = [
  ...['stts', 'stsc', 'stco'].map((type) => fullBox(type, 0, 0, [noEntries])),
  fullBox('stsz', 0, 0, [noEntries, noEntries]),
];
