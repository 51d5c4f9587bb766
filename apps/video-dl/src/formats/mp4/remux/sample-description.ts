import { type Box, childBoxes, makeBox } from '../box.js';
import { codecOf, elementaryStreamOf } from '../sample-entry.js';
import { NotRemuxableError } from './layout.js';

export interface SampleDescription {
  /** The `stsd` box as MP4 players expect it. */
  readonly bytes: Buffer;
  /** ffprobe's name of the codec. */
  readonly codec: string;
  readonly entries: number;
}

/** Sample entries that MP4 players know, and the box without which they can't decode them. */
const configBoxes: Partial<Record<string, string>> = {
  avc1: 'avcC',
  hvc1: 'hvcC',
  av01: 'av1C',
  vp09: 'vpcC',
};
const videoBoxes = [
  ...['avcC', 'hvcC', 'av1C', 'vpcC', 'pasp', 'colr', 'btrt', 'clap'],
  ...['mdcv', 'clli', 'SmDm', 'CoLL', 'dvcC', 'dvvC', 'st3d', 'sv3d'],
];
const videoEntryBytes = 86;
const audioEntryBytes = 36;

/**
 * Rewrites a sample description of MP4 or QuickTime as one of MP4 (ISO 14496-12, 8.5.2, 12.1.3, 12.2.3).
 * @throws NotRemuxableError for codecs and features other than those that all MP4 players know
 */
export function readSampleDescription(stsd: Buffer, handler: 'vide' | 'soun'): SampleDescription {
  const entries = childBoxes(stsd, 16);
  const rewritten = entries.map((entry) => (handler === 'vide' ? videoEntry(entry) : audioEntry(entry)));
  const [first] = rewritten;
  if (first === undefined || rewritten.length !== stsd.readUInt32BE(12))
    throw new NotRemuxableError('a track has no sample description');
  if (rewritten.some(({ codec }) => codec !== first.codec))
    throw new NotRemuxableError('a track changes its codec');
  const head = Buffer.alloc(8);
  head.writeUInt32BE(rewritten.length, 4);
  const bytes = makeBox('stsd', [head, ...rewritten.map((entry) => entry.bytes)]);
  return { bytes, codec: first.codec, entries: rewritten.length };
}

interface Entry {
  readonly bytes: Buffer;
  readonly codec: string;
}

function videoEntry({ type, bytes }: Box): Entry {
  const [codec, config] = [codecOf({ type, bytes }), configBoxes[type]];
  if (codec === undefined || config === undefined) throw new NotRemuxableError(`its video is ${type}`);
  const boxes = childBoxes(bytes, videoEntryBytes).filter((box) => videoBoxes.includes(box.type));
  if (!boxes.some((box) => box.type === config)) throw new NotRemuxableError('its video has no header');
  const fields = Buffer.from(bytes.subarray(8, videoEntryBytes));
  // QuickTime has a version, a vendor and qualities here, which MP4 reserves.
  fields.fill(0, 8, 24);
  fields.writeInt16BE(-1, fields.length - 2);
  return { bytes: makeBox(type, [fields, ...boxes.map(withMp4Colours)]), codec };
}

/** QuickTime's colours lack the range, which is limited. */
function withMp4Colours({ type, bytes }: Box): Buffer {
  if (type !== 'colr' || bytes.toString('latin1', 8, 12) !== 'nclc') return bytes;
  return makeBox('colr', [Buffer.from('nclx'), bytes.subarray(12, 18), Buffer.alloc(1)]);
}

function audioEntry({ type, bytes }: Box): Entry {
  const esds = type === 'mp4a' ? elementaryStreamOf({ type, bytes }) : undefined;
  if (esds === undefined || codecOf({ type, bytes }) !== 'aac')
    throw new NotRemuxableError("its audio isn't AAC");
  const fields = Buffer.from(bytes.subarray(8, audioEntryBytes));
  fields.fill(0, 8, 16);
  if (bytes.readUInt16BE(16) === 2) {
    // These fields have fixed values then; the true ones follow.
    fields.writeUInt16BE(Math.min(bytes.readUInt32BE(48), 0xffff), 16);
    const rate = bytes.readDoubleBE(40);
    fields.writeUInt32BE(rate >= 1 && rate < 0x1_0000 ? Math.floor(rate) * 0x1_0000 : 0, 24);
  }
  fields.writeUInt16BE(16, 18);
  fields.writeUInt32BE(0, 20);
  return { bytes: makeBox('mp4a', [fields, esds]), codec: 'aac' };
}
