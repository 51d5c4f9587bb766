import { type Box, childBoxes, findBox, isLong, Mp4FormatError, requiredBox } from './box.js';
import { protectedByDrm } from '../rejection.js';

/** One entry of an edit list (ISO 14496-12, 8.6.6). */
export interface Edit {
  /** In the movie's timescale. */
  readonly duration: number;
  /** In the track's timescale; -1 for a delay. */
  readonly mediaTime: number;
  readonly speed: number;
}

/** A track as the moov box describes it. */
export interface Mp4Track {
  readonly trak: Box;
  /** Its tables (8.5.1). */
  readonly stbl: Box;
  readonly id: number;
  /** `vide`, `soun`, … */
  readonly handler: string;
  readonly isEnabled: boolean;
  /** Units per second of the track's times. */
  readonly timescale: number;
  /** Of its samples in moov, in these units; null if unknown. */
  readonly duration: number | null;
  /** Units per second of the durations in its edits. */
  readonly movieTimescale: number;
  /** At most 64 of them. */
  readonly edits: readonly Edit[];
  /** Seconds by which the edit list shifts the track: presentation time = media time + shift. */
  readonly shiftSeconds: number;
  /** Duration of samples for which a fragment states none, in units of `timescale`. */
  readonly defaultSampleDuration: number;
}

export interface MovieHeader {
  readonly moov: Buffer;
  /** The mvhd box. */
  readonly header: Box;
  readonly timescale: number;
  /** Null if unknown. */
  readonly seconds: number | null;
  /** Whether its samples are in fragments. */
  readonly isFragmented: boolean;
  /** The trex boxes (8.8.3). */
  readonly defaults: readonly Box[];
  readonly tracks: readonly Mp4Track[];
}

export const maxEdits = 64;

/** Reads a moov box. @throws Mp4FormatError, RangeError for a damaged box */
export function readMovieHeader(moov: Buffer): MovieHeader {
  const movie = { type: 'moov', bytes: moov };
  const header = requiredBox(movie, 'mvhd');
  const timescale = timescaleOf(header);
  const extension = findBox(movie, 'mvex');
  const defaults = extension ? childBoxes(extension.bytes).filter(({ type }) => type === 'trex') : [];
  const durations = new Map(defaults.map(({ bytes }) => [bytes.readUInt32BE(12), bytes.readUInt32BE(20)]));
  const duration = durationIn(header);
  return {
    moov,
    header,
    timescale,
    seconds: duration && duration / timescale,
    isFragmented: extension !== undefined,
    defaults,
    tracks: childBoxes(moov).flatMap((box) =>
      box.type === 'trak' ? [readTrack(box, timescale, durations)] : [],
    ),
  };
}

function readTrack(trak: Box, movieTimescale: number, durations: ReadonlyMap<number, number>): Mp4Track {
  const header = requiredBox(trak, 'tkhd');
  const media = requiredBox(trak, 'mdia');
  const id = header.bytes.readUInt32BE(isLong(header) ? 28 : 20);
  const mediaHeader = requiredBox(media, 'mdhd');
  const timescale = timescaleOf(mediaHeader);
  const edits = readEdits(findBox(trak, 'edts', 'elst'));
  // Empty edits delay a track. The first real edit skips the media before its start.
  const first = edits.findIndex(({ mediaTime }) => mediaTime >= 0);
  const delays = first < 0 ? edits : edits.slice(0, first);
  const delay = delays.reduce((sum, { duration }) => sum + duration, 0);
  return {
    trak,
    stbl: requiredBox(media, 'minf', 'stbl'),
    id,
    handler: requiredBox(media, 'hdlr').bytes.toString('latin1', 16, 20),
    isEnabled: (header.bytes.readUInt8(11) & 1) === 1,
    timescale,
    duration: durationIn(mediaHeader),
    movieTimescale,
    edits,
    shiftSeconds: delay / movieTimescale - (edits[first]?.mediaTime ?? 0) / timescale,
    defaultSampleDuration: durations.get(id) ?? 0,
  };
}

function readEdits(elst: Box | undefined): Edit[] {
  if (elst === undefined) return [];
  const { bytes } = elst;
  const isWide = isLong(elst);
  const entryBytes = isWide ? 20 : 12;
  return Array.from({ length: Math.min(bytes.readUInt32BE(12), maxEdits) }, (_, index) => {
    const at = 16 + index * entryBytes;
    return {
      duration: isWide ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at),
      mediaTime: isWide ? Number(bytes.readBigInt64BE(at + 8)) : bytes.readInt32BE(at + 4),
      speed: bytes.readInt32BE(at + entryBytes - 4) / 0x1_0000,
    };
  });
}

/** mvhd and mdhd share a layout: version, flags, creation, modification, timescale, duration. */
function timescaleOf(box: Box): number {
  const timescale = box.bytes.readUInt32BE(isLong(box) ? 28 : 20);
  if (timescale === 0) throw new Mp4FormatError(`${box.type} has the timescale 0`);
  return timescale;
}

/** Where the duration is in an mvhd, mdhd or tkhd box; tkhd has the track's id instead of a timescale, and a reserved field. */
export function durationField(box: Box): { at: number; bytes: number } {
  const at = (isLong(box) ? 32 : 24) + (box.type === 'tkhd' ? 4 : 0);
  return { at, bytes: isLong(box) ? 8 : 4 };
}

/** Null for 0 and "unknown". */
function durationIn(box: Box): number | null {
  const { at } = durationField(box);
  const units = isLong(box) ? Number(box.bytes.readBigUInt64BE(at)) : box.bytes.readUInt32BE(at);
  const isUnknown = units === 0 || units >= (isLong(box) ? 2 ** 64 - 2048 : 2 ** 32 - 1);
  return isUnknown ? null : units;
}

const maxEntries = 64;

/** What the samples of a track are coded in: `avc1`, `mp4a`, … (8.5.2). */
export function sampleEntries({ stbl }: Mp4Track): Box[] {
  const description = findBox(stbl, 'stsd');
  return description === undefined ? [] : childBoxes(description.bytes, 16, maxEntries);
}

/** Sample entries of Common Encryption (ISO 23001-7) and of Apple's FairPlay. */
const encryptedEntries = new Set(['encv', 'enca', 'enct', 'encs', 'drms', 'drmi']);

/** @throws Rejection `drm_protected` for encrypted samples; Mp4FormatError, RangeError for a damaged box */
export function assertNotEncrypted({ moov, tracks }: MovieHeader): void {
  const isEncrypted = tracks
    .flatMap(sampleEntries)
    .some(({ type, bytes }) => encryptedEntries.has(type) || bytes.includes('sinf'));
  if (isEncrypted || childBoxes(moov).some(({ type }) => type === 'pssh')) throw protectedByDrm();
}

/** Whether the media of a track are in the same file, as far as it says (8.7.2). */
export function isSelfContained({ trak }: Mp4Track): boolean {
  const reference = findBox(trak, 'mdia', 'minf', 'dinf', 'dref');
  return reference === undefined || (reference.bytes.readUInt32BE(24) & 1) === 1;
}
