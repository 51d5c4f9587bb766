import { type Box, childBoxes, findBox } from './box.js';

/** How a high dynamic range is coded (ITU-R BT.2100): perceptual quantizer or hybrid log-gamma. */
export type HdrTransfer = 'pq' | 'hlg';

export interface ProbedStream {
  type: 'video' | 'audio';
  /** ffmpeg's name for it: `h264`, `vp9`, `aac`, `opus`, …; `avc1.6e0028` for H.264 that few players support. */
  codec: string;
  /** Displayed pixels, after rotation; null for audio. */
  width: number | null;
  height: number | null;
  fps: number | null;
  bitrateKbps: number | null;
  /** The stream's own duration, if the container states one. */
  durationSeconds: number | null;
  /** Delay relative to the first stream of the file; only from ffprobe. */
  delaySeconds?: number | undefined;
  /** ffprobe saw so little of it that it may start later than reported. */
  isUnseen?: boolean | undefined;
  /** Of a video with a high dynamic range, if the file says so. */
  hdr?: HdrTransfer | undefined;
  /** Cover art, not a video. */
  isCover: boolean;
  /** The file marks it as one to play unless the user chooses another, and not as a commentary or audio description. */
  isDefault: boolean;
}

/** The stream that ffmpeg counts as this type's number `track`. */
export function streamOf(
  streams: readonly ProbedStream[],
  wanted: ProbedStream['type'],
  track = 0,
): ProbedStream | undefined {
  return streams.filter(({ type, isCover }) => type === wanted && !isCover)[track];
}

/** How long a stream lasts without a delay before it; null if unknown. */
export function lengthOf({ durationSeconds, isUnseen }: ProbedStream): number | null {
  return isUnseen === true ? null : durationSeconds;
}

/** The number, among the audio streams, of the one that players play: the first default one, else the first. */
export function mainAudioTrack(streams: readonly ProbedStream[]): number {
  const audio = streams.filter(({ type }) => type === 'audio');
  return Math.max(
    0,
    audio.findIndex(({ isDefault }) => isDefault),
  );
}

/** The file states a wrong length. */
export const mediaDefects = ['wrong_length'] as const;
export type MediaDefect = (typeof mediaDefects)[number];

export interface Probe {
  durationSeconds: number | null;
  /** Whether the media state the duration, rather than it being estimated from a bit rate. Absent if unknown. */
  isExact?: boolean | undefined;
  /** Absent if none is known. */
  defect?: MediaDefect | undefined;
  /** Of the whole file, if its server states it. */
  sizeBytes: number | null;
  streams: ProbedStream[];
  /** Demuxer names, for example `mov,mp4,m4a,3gp,3g2,mj2`. */
  formatName: string;
}

/** ffprobe's codec names, keyed by sample entry (ISO 14496-12 and the registry at mp4ra.org). */
const codecs: Readonly<Record<string, string>> = {
  avc1: 'h264',
  avc3: 'h264',
  hvc1: 'hevc',
  hev1: 'hevc',
  av01: 'av1',
  vp08: 'vp8',
  vp09: 'vp9',
  'ac-3': 'ac3',
  'ec-3': 'eac3',
  Opus: 'opus',
  fLaC: 'flac',
  '.mp3': 'mp3',
};

/** Codecs in an `mp4a` entry, keyed by the object type of its decoder configuration (ISO 14496-1, table 5). */
const mp4aCodecs: Readonly<Record<number, string>> = {
  0x40: 'aac',
  0x66: 'aac',
  0x67: 'aac',
  0x68: 'aac',
  0x69: 'mp3',
  0x6b: 'mp3',
};

/**
 * What ffprobe would report for an MP4 with this `moov` box.
 * @returns undefined if the box isn't sufficient: fragmented files and codecs unknown to us
 * @throws Mp4FormatError, RangeError for a damaged box
 */
export function summariseMovie(moov: Buffer): Omit<Probe, 'sizeBytes'> | undefined {
  const boxes = childBoxes(moov);
  const header = boxes.find(({ type }) => type === 'mvhd');
  if (header === undefined || boxes.some(({ type }) => type === 'mvex')) return undefined;
  const durationSeconds = readDuration(header);
  if (durationSeconds === null) return undefined;
  const streams: ProbedStream[] = [];
  for (const track of boxes.filter(({ type }) => type === 'trak')) {
    const stream = readTrack(track);
    if (stream === undefined) return undefined;
    if (stream !== null) streams.push(stream);
  }
  if (streams.length === 0) return undefined;
  return { durationSeconds, streams, formatName: 'mov,mp4,m4a,3gp,3g2,mj2' };
}

/** The sample entry types (`avc1`, `mp4a`, …) of a `moov` box, in the order of its tracks. */
export function sampleEntryTypes(moov: Buffer): string[] {
  return childBoxes(moov)
    .filter(({ type }) => type === 'trak')
    .flatMap((track) => {
      const description = findBox(track, 'mdia', 'minf', 'stbl', 'stsd');
      return description === undefined ? [] : childBoxes(description.bytes, 16).map(({ type }) => type);
    });
}

/** Whether a `moov` box has audio, and no video. */
export function hasOnlyAudio(moov: Buffer): boolean {
  const handlers = childBoxes(moov)
    .filter(({ type }) => type === 'trak')
    .map((track) => findBox(track, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20));
  return handlers.includes('soun') && !handlers.includes('vide');
}

/** The track's stream; null if it is neither video nor audio, undefined if its codec is unknown to us. */
function readTrack(track: Box): ProbedStream | null | undefined {
  const handler = findBox(track, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20);
  if (handler !== 'vide' && handler !== 'soun') return null;
  const mediaHeader = findBox(track, 'mdia', 'mdhd');
  const samples = findBox(track, 'mdia', 'minf', 'stbl');
  const description = samples && findBox(samples, 'stsd');
  const entry = description && childBoxes(description.bytes, 16)[0];
  const durationSeconds = mediaHeader && readDuration(mediaHeader);
  if (samples === undefined || entry === undefined || durationSeconds == null) return undefined;
  const codec = entry.type === 'mp4a' ? mp4aCodec(entry) : videoCodec(entry);
  if (codec === undefined) return undefined;
  const isVideo = handler === 'vide';
  const size = isVideo ? displaySize(track, entry) : { width: null, height: null };
  const totals = sampleTotals(samples);
  return {
    type: isVideo ? 'video' : 'audio',
    codec,
    ...size,
    fps: isVideo ? Math.round((totals.count / durationSeconds) * 1000) / 1000 : null,
    bitrateKbps: Math.round((totals.bytes * 8) / durationSeconds / 1000) || null,
    durationSeconds: isVideo ? durationSeconds : (trackSeconds(track) ?? durationSeconds),
    hdr: isVideo ? hdrOf(entry) : undefined,
    isCover: false,
    isDefault: isEnabled(track),
  };
}

/** Transfer characteristics of ITU-T H.273, table 3. */
const hdrTransfers: Readonly<Record<number, HdrTransfer>> = { 16: 'pq', 18: 'hlg' };

/** From a video entry's `colr` box (ISO 14496-12, 12.1.5). */
function hdrOf({ bytes }: Box): HdrTransfer | undefined {
  const colours = childBoxes(bytes, 86).find(({ type }) => type === 'colr')?.bytes;
  return colours?.toString('latin1', 8, 12) === 'nclx' ? hdrTransfers[colours.readUInt16BE(14)] : undefined;
}

/** ISO 14496-12, 8.3.2. Of several languages, usually one is enabled. */
function isEnabled(track: Box): boolean {
  const header = findBox(track, 'tkhd')?.bytes;
  return header !== undefined && (header.readUInt8(11) & 1) === 1;
}

/** Duration in an `mvhd` or `mdhd`, which share a layout, in seconds; null for 0 and "unknown". */
function readDuration({ bytes }: Box): number | null {
  const isLong = bytes.readUInt8(8) === 1;
  const timescale = bytes.readUInt32BE(isLong ? 28 : 20);
  const duration = isLong ? Number(bytes.readBigUInt64BE(32)) : bytes.readUInt32BE(24);
  const isUnknown = duration === 0 || duration >= (isLong ? 2 ** 64 - 2048 : 2 ** 32 - 1);
  return isUnknown || timescale === 0 ? null : duration / timescale;
}

/** Displayed pixels: those of the sample entry, rotated by the track's matrix. */
function displaySize(track: Box, entry: Box): { width: number | null; height: number | null } {
  const [width, height] = [entry.bytes.readUInt16BE(32), entry.bytes.readUInt16BE(34)];
  const header = findBox(track, 'tkhd')?.bytes;
  const matrixAt = header?.readUInt8(8) === 1 ? 60 : 48;
  const isRotated =
    header !== undefined && header.readInt32BE(matrixAt) === 0 && header.readInt32BE(matrixAt + 4) !== 0;
  return isRotated ? { width: height, height: width } : { width, height };
}

function sampleTotals(samples: Box): { count: number; bytes: number } {
  const sizes = findBox(samples, 'stsz')?.bytes;
  if (sizes === undefined) return { count: 0, bytes: 0 };
  const [same, count] = [sizes.readUInt32BE(12), sizes.readUInt32BE(16)];
  if (same !== 0) return { count, bytes: same * count };
  let bytes = 0;
  for (let index = 0; index < count; index += 1) bytes += sizes.readUInt32BE(20 + 4 * index);
  return { count, bytes };
}

/** Profiles of H.264 other than 8-bit 4:2:0, by ffprobe's names (ISO 14496-10, A.2). */
export const rareH264Profiles: ReadonlyMap<string, number> = new Map([
  ['High 10', 0x6e],
  ['High 10 Intra', 0x6e],
  ['High 4:2:2', 0x7a],
  ['High 4:2:2 Intra', 0x7a],
  ['High 4:4:4', 0x90],
  ['High 4:4:4 Predictive', 0xf4],
  ['High 4:4:4 Intra', 0xf4],
  ['CAVLC 4:4:4', 0x2c],
]);

/** The codec of an entry other than `mp4a`; for H.264, from its `avcC` box (ISO 14496-15, 5.3.3). */
export function videoCodec({ type, bytes }: Box): string | undefined {
  const codec = codecs[type];
  const config = codec === 'h264' ? bytes.indexOf('avcC') : -1;
  if (config < 0 || ![...rareH264Profiles.values()].includes(bytes.readUInt8(config + 5))) return codec;
  return `avc1.${bytes.toString('hex', config + 5, config + 8)}`;
}

/** The codec of an `mp4a` entry, from its `esds` box. */
function mp4aCodec(entry: Box): string | undefined {
  // QuickTime's longer sample descriptions have their children at a different offset.
  const isPlain = entry.bytes.readUInt16BE(16) === 0;
  const descriptor = isPlain
    ? childBoxes(entry.bytes, 36).find(({ type }) => type === 'esds')?.bytes
    : undefined;
  if (descriptor === undefined) return undefined;
  const at = decoderConfigAt(descriptor);
  return at === undefined ? undefined : mp4aCodecs[descriptor.readUInt8(at)];
}

/** Where the content of the decoder configuration begins in an `esds` box: tag 4, a length of one to four bytes, the object type. */
export function decoderConfigAt(esds: Buffer): number | undefined {
  const tagAt = esds.indexOf(0x04, 12 + 5);
  if (tagAt < 0) return undefined;
  let at = tagAt + 1;
  while (at < tagAt + 4 && (esds.readUInt8(at) & 0x80) !== 0) at += 1;
  return at + 1;
}

/** The audio length that a file states. */
export interface AudioLength {
  /** Exact to one tick of the container's clock, which for audio is usually a sample. */
  readonly seconds: number;
  readonly sampleRate: number;
}

/**
 * The length of the first audio track in an MP4, if its boxes state it exactly
 * (ISO 14496-12: mdhd 8.4.2, elst 8.6.6, sidx 8.16.3).
 *
 * @param index the `sidx` box of a fragmented file, if it has one
 * @returns undefined if there is no audio, or its exact length isn't stated
 * @throws Mp4FormatError, RangeError for damaged boxes
 */
export function audioLength(moov: Buffer, index: Buffer | undefined): AudioLength | undefined {
  const boxes = childBoxes(moov);
  const isFragmented = boxes.some(({ type }) => type === 'mvex');
  const tracks = boxes.filter(({ type }) => type === 'trak');
  const track = tracks.find((trak) => handlerOf(trak) === 'soun');
  const description = track && findBox(track, 'mdia', 'minf', 'stbl', 'stsd');
  const entry = description && childBoxes(description.bytes, 16)[0];
  if (track === undefined || entry === undefined) return undefined;
  // The field can't hold rates above 65 535; the track's timescale is the sample rate then.
  const sampleRate = entry.bytes.readUInt16BE(32) || timescaleOf(track);
  // The index measures one track; in a file with video it may not be the audio.
  const seconds = !isFragmented
    ? trackSeconds(track)
    : tracks.length === 1 && index
      ? indexSeconds(index)
      : undefined;
  return seconds === undefined || seconds <= 0 || sampleRate === 0 ? undefined : { seconds, sampleRate };
}

function timescaleOf(track: Box): number {
  const header = findBox(track, 'mdia', 'mdhd')?.bytes;
  return header?.readUInt32BE(header.readUInt8(8) === 1 ? 28 : 20) ?? 0;
}

function trackSeconds(track: Box): number | undefined {
  const header = findBox(track, 'mdia', 'mdhd')?.bytes;
  if (header === undefined) return undefined;
  const isWide = header.readUInt8(8) === 1;
  const timescale = timescaleOf(track);
  const units = isWide ? Number(header.readBigUInt64BE(32)) : header.readUInt32BE(24);
  if (timescale === 0 || units === 0 || units >= 0xffff_ffff) return undefined;
  const skipped = skippedUnits(track);
  return skipped === undefined ? undefined : (units - skipped) / timescale;
}

/** Media before the start of the only edit, such as an encoder's delay; undefined if there are several edits. */
function skippedUnits(track: Box): number | undefined {
  const edits = findBox(track, 'edts', 'elst')?.bytes;
  if (edits === undefined) return 0;
  const isWide = edits.readUInt8(8) === 1;
  const starts = Array.from({ length: Math.min(edits.readUInt32BE(12), 3) }, (_, index) => {
    const at = 16 + index * (isWide ? 20 : 12);
    return isWide ? Number(edits.readBigInt64BE(at + 8)) : edits.readInt32BE(at + 4);
  });
  const real = starts.filter((start) => start >= 0);
  return real.length === 1 ? real[0] : undefined;
}

function indexSeconds(sidx: Buffer): number | undefined {
  const isWide = sidx.readUInt8(8) === 1;
  const timescale = sidx.readUInt32BE(16);
  const countAt = (isWide ? 36 : 28) + 2;
  const count = sidx.readUInt16BE(countAt);
  let units = 0;
  for (let index = 0; index < count; index += 1) {
    const at = countAt + 2 + index * 12;
    // A reference to another index, whose duration isn't available here.
    if ((sidx.readUInt32BE(at) & 0x8000_0000) !== 0) return undefined;
    units += sidx.readUInt32BE(at + 4);
  }
  return timescale === 0 ? undefined : units / timescale;
}

/**
 * How many bytes after a `sidx` box it indexes (ISO 14496-12, 8.16.3).
 * @throws RangeError for a damaged box
 */
export function indexedBytes(sidx: Buffer): number {
  const isWide = sidx.readUInt8(8) === 1;
  const firstOffset = isWide ? Number(sidx.readBigUInt64BE(28)) : sidx.readUInt32BE(24);
  return referencedSizes(sidx).reduce((sum, size) => sum + size, firstOffset);
}

/** Whether a `sidx` box indexes more than the fragment after it. */
export function indexesSeveralFragments(sidx: Buffer): boolean {
  return referencedSizes(sidx).length > 1;
}

function referencedSizes(sidx: Buffer): number[] {
  const countAt = (sidx.readUInt8(8) === 1 ? 36 : 28) + 2;
  return Array.from(
    { length: sidx.readUInt16BE(countAt) },
    (_, index) =>
      // The highest bit says what is referenced.
      sidx.readUInt32BE(countAt + 2 + index * 12) % 0x8000_0000,
  );
}

function handlerOf(track: Box): string | undefined {
  return findBox(track, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20);
}
