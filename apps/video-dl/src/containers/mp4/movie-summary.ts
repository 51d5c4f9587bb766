import { childBoxes, findBox, type Box } from './box.js';

export interface ProbedStream {
  type: 'video' | 'audio';
  /** ffmpeg's name: `h264`, `vp9`, `aac`, `opus`, … */
  codec: string;
  /** Pixels as shown, rotation applied; null for audio. */
  width: number | null;
  height: number | null;
  fps: number | null;
  bitrateKbps: number | null;
  /** The stream's own length where the container states one. */
  durationSeconds: number | null;
  /** How much later than the first of the file it begins; only ffprobe says so. */
  delaySeconds?: number | undefined;
  /** A still picture that belongs to the file, not a video. */
  isCover: boolean;
}

export interface Probe {
  durationSeconds: number | null;
  /** Of the whole file where its server tells. */
  sizeBytes: number | null;
  streams: ProbedStream[];
  /** Demuxer names, for example `mov,mp4,m4a,3gp,3g2,mj2`. */
  formatName: string;
}

/** Codec names as ffprobe has them, by sample entry (ISO 14496-12 and the registry at mp4ra.org). */
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

/** What an `mp4a` entry holds, by the object type of its decoder configuration (ISO 14496-1, table 5). */
const mp4aCodecs: Readonly<Record<number, string>> = {
  0x40: 'aac',
  0x66: 'aac',
  0x67: 'aac',
  0x68: 'aac',
  0x69: 'mp3',
  0x6b: 'mp3',
};

/**
 * What ffprobe would say of an MP4 with this `moov` box.
 * @returns undefined where the box does not tell it all: fragmented files, codecs that are not known here
 * @throws Mp4FormatError, RangeError for a damaged box
 */
export function summarizeMovie(moov: Buffer): Omit<Probe, 'sizeBytes'> | undefined {
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

/** Whether a `moov` box has audio that isn't encrypted, and no video. */
export function hasOnlyAudio(moov: Buffer): boolean {
  const handlers = childBoxes(moov)
    .filter(({ type }) => type === 'trak')
    .map((track) => findBox(track, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20));
  return handlers.includes('soun') && !handlers.includes('vide') && !sampleEntryTypes(moov).includes('enca');
}

/** The track's stream; null for one that is neither picture nor sound, undefined for one not known here. */
function readTrack(track: Box): ProbedStream | null | undefined {
  const handler = findBox(track, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20);
  if (handler !== 'vide' && handler !== 'soun') return null;
  const mediaHeader = findBox(track, 'mdia', 'mdhd');
  const samples = findBox(track, 'mdia', 'minf', 'stbl');
  const description = samples && findBox(samples, 'stsd');
  const entry = description && childBoxes(description.bytes, 16)[0];
  const durationSeconds = mediaHeader && readDuration(mediaHeader);
  if (samples === undefined || entry === undefined || durationSeconds == null) return undefined;
  const codec = entry.type === 'mp4a' ? mp4aCodec(entry) : codecs[entry.type];
  if (codec === undefined) return undefined;
  const isVideo = handler === 'vide';
  const size = isVideo ? pictureSize(track, entry) : { width: null, height: null };
  const totals = sampleTotals(samples);
  return {
    type: isVideo ? 'video' : 'audio',
    codec,
    ...size,
    fps: isVideo ? Math.round((totals.count / durationSeconds) * 1000) / 1000 : null,
    bitrateKbps: Math.round((totals.bytes * 8) / durationSeconds / 1000) || null,
    durationSeconds,
    isCover: false,
  };
}

/** Seconds of an `mvhd` or `mdhd`, which begin alike; null where it says 0 or "unknown". */
function readDuration({ bytes }: Box): number | null {
  const isLong = bytes.readUInt8(8) === 1;
  const timescale = bytes.readUInt32BE(isLong ? 28 : 20);
  const duration = isLong ? Number(bytes.readBigUInt64BE(32)) : bytes.readUInt32BE(24);
  const isUnknown = duration === 0 || duration >= (isLong ? 2 ** 64 - 2048 : 2 ** 32 - 1);
  return isUnknown || timescale === 0 ? null : duration / timescale;
}

/** Pixels as shown: the sample entry's, turned as the track's matrix says. */
function pictureSize(track: Box, entry: Box): { width: number | null; height: number | null } {
  const [width, height] = [entry.bytes.readUInt16BE(32), entry.bytes.readUInt16BE(34)];
  const header = findBox(track, 'tkhd')?.bytes;
  const matrixAt = header?.readUInt8(8) === 1 ? 60 : 48;
  const isTurned =
    header !== undefined && header.readInt32BE(matrixAt) === 0 && header.readInt32BE(matrixAt + 4) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
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

/** The codec in an `mp4a` entry, from the `esds` box among its children. */
function mp4aCodec(entry: Box): string | undefined {
  // QuickTime's longer sample descriptions have their children elsewhere.
  const isPlain = entry.bytes.readUInt16BE(16) === 0;
  const descriptor = isPlain
    ? childBoxes(entry.bytes, 36).find(({ type }) => type === 'esds')?.bytes
    : undefined;
  if (descriptor === undefined) return undefined;
  // DecoderConfigDescriptor: tag 4, a length of one to four bytes, the object type.
  const tagAt = descriptor.indexOf(0x04, 12 + 5);
  if (tagAt < 0) return undefined;
  let at = tagAt + 1;
  while (at < tagAt + 4 && (descriptor.readUInt8(at) & 0x80) !== 0) at += 1;
  return mp4aCodecs[descriptor.readUInt8(at + 1)];
}
