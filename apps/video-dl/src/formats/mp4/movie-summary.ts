import type { AudioLength, Probe, ProbedStream } from '../probed.js';
import { type Box, childBoxes, findBox } from './box.js';
import { handlerOf } from './movie-header.js';
import { codecOf, hdrOf } from './sample-entry.js';
import { indexSeconds } from './segment-index.js';

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
    .map(handlerOf);
  return handlers.includes('soun') && !handlers.includes('vide');
}

/** The track's stream; null if it is neither video nor audio, undefined if its codec is unknown to us. */
function readTrack(track: Box): ProbedStream | null | undefined {
  const handler = handlerOf(track);
  if (handler !== 'vide' && handler !== 'soun') return null;
  const mediaHeader = findBox(track, 'mdia', 'mdhd');
  const samples = findBox(track, 'mdia', 'minf', 'stbl');
  const description = samples && findBox(samples, 'stsd');
  const entry = description && childBoxes(description.bytes, 16)[0];
  const durationSeconds = mediaHeader && readDuration(mediaHeader);
  if (samples === undefined || entry === undefined || durationSeconds == null) return undefined;
  const codec = codecOf(entry);
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
    hiddenSeconds: hiddenSeconds(track, samples),
    isCover: false,
    isDefault: isEnabled(track),
  };
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

/** The media before the only edit, but for the time at which the first sample is shown. */
function hiddenSeconds(track: Box, samples: Box): number | undefined {
  const offsets = findBox(samples, 'ctts')?.bytes;
  const shownAt = offsets === undefined || offsets.readUInt32BE(12) === 0 ? 0 : offsets.readInt32BE(20);
  const hidden = (skippedUnits(track) ?? 0) - shownAt;
  return hidden > 0 ? hidden / timescaleOf(track) : undefined;
}
