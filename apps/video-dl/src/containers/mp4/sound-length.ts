import { childBoxes, findBox, type Box } from './box.js';

/** How much sound a file states that it has. */
export interface SoundLength {
  /** As exact as the container's own clock, which for sound counts samples. */
  readonly seconds: number;
  readonly sampleRate: number;
}

/**
 * The length of the first track of sound in an MP4, where its boxes state it exactly
 * (ISO 14496-12: mdhd 8.4.2, elst 8.6.6, sidx 8.16.3).
 *
 * @param index the `sidx` box of a file in fragments, if it has one
 * @returns undefined where there is no sound, or nothing that tells its length exactly
 * @throws Mp4FormatError, RangeError for damaged boxes
 */
export function soundLength(moov: Buffer, index: Buffer | undefined): SoundLength | undefined {
  const boxes = childBoxes(moov);
  const isFragmented = boxes.some(({ type }) => type === 'mvex');
  const tracks = boxes.filter(({ type }) => type === 'trak');
  const track = tracks.find((trak) => handlerOf(trak) === 'soun');
  const description = track && findBox(track, 'mdia', 'minf', 'stbl', 'stsd');
  const entry = description && childBoxes(description.bytes, 16)[0];
  if (track === undefined || entry === undefined) return undefined;
  // The entry's field holds no rate above 65 535; the track's clock ticks once a sample then.
  const sampleRate = entry.bytes.readUInt16BE(32) || timescaleOf(track);
  // The index counts the time of one track: with pictures it may be theirs.
  const seconds = !isFragmented
    ? wholeTrack(track)
    : tracks.length === 1 && index
      ? indexed(index)
      : undefined;
  return seconds === undefined || seconds <= 0 || sampleRate === 0 ? undefined : { seconds, sampleRate };
}

function timescaleOf(track: Box): number {
  const header = findBox(track, 'mdia', 'mdhd')?.bytes;
  return header?.readUInt32BE(header.readUInt8(8) === 1 ? 28 : 20) ?? 0;
}

function wholeTrack(track: Box): number | undefined {
  const header = findBox(track, 'mdia', 'mdhd')?.bytes;
  if (header === undefined) return undefined;
  const isWide = header.readUInt8(8) === 1;
  const timescale = timescaleOf(track);
  const units = isWide ? Number(header.readBigUInt64BE(32)) : header.readUInt32BE(24);
  if (timescale === 0 || units === 0 || units >= 0xffff_ffff) return undefined;
  const skipped = skippedUnits(track);
  return skipped === undefined ? undefined : (units - skipped) / timescale;
}

/** Media before the start of the one edit, such as an encoder's delay; undefined where edits cut more than that. */
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

function indexed(sidx: Buffer): number | undefined {
  const isWide = sidx.readUInt8(8) === 1;
  const timescale = sidx.readUInt32BE(16);
  const countAt = (isWide ? 36 : 28) + 2;
  const count = sidx.readUInt16BE(countAt);
  let units = 0;
  for (let index = 0; index < count; index += 1) {
    const at = countAt + 2 + index * 12;
    // A reference to another index: what that counts is not known here.
    if ((sidx.readUInt32BE(at) & 0x8000_0000) !== 0) return undefined;
    units += sidx.readUInt32BE(at + 4);
  }
  return timescale === 0 ? undefined : units / timescale;
}

function handlerOf(track: Box): string | undefined {
  return findBox(track, 'mdia', 'hdlr')?.bytes.toString('latin1', 16, 20);
}
