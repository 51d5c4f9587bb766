import type { HdrTransfer } from '../probed.js';
import { type Box, childBoxes } from './box.js';

/**
 * ffprobe's codec names, keyed by sample entry (ISO 14496-12 and the registry at mp4ra.org). `avc3` and `hev1` keep
 * theirs: their parameter sets may be in the media alone.
 */
const codecs: Readonly<Record<string, string>> = {
  avc1: 'h264',
  avc3: 'avc3',
  hvc1: 'hevc',
  hev1: 'hev1',
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

/** QuickTime's sound descriptions of version 1 and 2 have more fields (QuickTime File Format, "Sound Sample Descriptions"). */
const audioFieldBytes = [36, 36 + 16, 36 + 36];

/** Transfer characteristics of ITU-T H.273, table 3. */
const hdrTransfers: Readonly<Record<number, HdrTransfer>> = { 16: 'pq', 18: 'hlg' };

/** From a video entry's `colr` box (ISO 14496-12, 12.1.5). */
export function hdrOf({ bytes }: Box): HdrTransfer | undefined {
  const colours = childBoxes(bytes, 86).find(({ type }) => type === 'colr')?.bytes;
  return colours?.toString('latin1', 8, 12) === 'nclx' ? hdrTransfers[colours.readUInt16BE(14)] : undefined;
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

/** ffprobe's name for the codec of a sample entry; undefined if we don't know it. */
export function codecOf(entry: Box): string | undefined {
  const { type, bytes } = entry;
  if (type === 'mp4a') {
    const descriptor = elementaryStreamOf(entry);
    const at = descriptor && decoderConfigAt(descriptor);
    return at === undefined ? undefined : mp4aCodecs[descriptor?.readUInt8(at) ?? 0];
  }
  const codec = codecs[type];
  // The profile of H.264 is in its `avcC` box (ISO 14496-15, 5.3.3).
  const isH264 = codec === 'h264' || codec === 'avc3';
  const config = isH264 ? bytes.indexOf('avcC') : -1;
  if (config < 0 || ![...rareH264Profiles.values()].includes(bytes.readUInt8(config + 5))) return codec;
  return `${type}.${bytes.toString('hex', config + 5, config + 8)}`;
}

/** The `esds` box of an `mp4a` entry; undefined without one. */
export function elementaryStreamOf({ bytes }: Box): Buffer | undefined {
  const boxes = childBoxes(bytes, audioFieldBytes[bytes.readUInt16BE(16)] ?? bytes.length);
  const wave = boxes.find(({ type }) => type === 'wave')?.bytes ?? Buffer.alloc(0);
  return [...boxes, ...childBoxes(wave)].find(({ type }) => type === 'esds')?.bytes;
}

/** Where the content of the decoder configuration begins in an `esds` box: tag 4, a length of one to four bytes, the object type. */
export function decoderConfigAt(esds: Buffer): number | undefined {
  const tagAt = esds.indexOf(0x04, 12 + 5);
  if (tagAt < 0) return undefined;
  let at = tagAt + 1;
  while (at < tagAt + 4 && (esds.readUInt8(at) & 0x80) !== 0) at += 1;
  return at + 1;
}
