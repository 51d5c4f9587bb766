import { type Box, childBoxes, makeBox, Mp4FormatError } from './box.js';

/** Readers for the boxes of a fragment's tracks (ISO 14496-12, 8.8.7, 8.8.8, 8.8.12). */

const flag = {
  baseDataOffset: 0x01,
  sampleDescriptionIndex: 0x02,
  defaultSampleDuration: 0x08,
  dataOffset: 0x01,
  firstSampleFlags: 0x04,
  sampleDuration: 0x100,
  sampleCompositionOffset: 0x800,
};
/** Duration, size, flags, composition offset. */
const sampleFields = [flag.sampleDuration, 0x200, 0x400, flag.sampleCompositionOffset];

/** The flags of a full box with an 8-byte header. */
export function flagsOf(box: Buffer): number {
  return box.readUIntBE(9, 3);
}

export function readDefaultDuration(tfhd: Buffer): number | undefined {
  const set = flagsOf(tfhd);
  if ((set & flag.defaultSampleDuration) === 0) return undefined;
  return tfhd.readUInt32BE(
    16 + (set & flag.baseDataOffset ? 8 : 0) + (set & flag.sampleDescriptionIndex ? 4 : 0),
  );
}

export function readDecodeTime(tfdt: Buffer): number {
  return tfdt.readUInt8(8) === 1 ? Number(tfdt.readBigUInt64BE(12)) : tfdt.readUInt32BE(12);
}

/** The samples of a `trun` box. */
export interface Run {
  readonly bytes: Buffer;
  readonly samples: number;
  /** Where the first one begins, and the size of each; 0 if all are equal. */
  readonly start: number;
  readonly entryBytes: number;
  /** The first field. */
  readonly hasDuration: boolean;
  /** The last field. Unsigned in version 0, but writers such as ffmpeg use negative values there too. */
  readonly hasComposition: boolean;
}

/** @throws Mp4FormatError for a box with fewer samples than it states */
export function readRun(trun: Buffer): Run {
  const set = flagsOf(trun);
  const samples = trun.readUInt32BE(12);
  const start = 16 + (set & flag.dataOffset ? 4 : 0) + (set & flag.firstSampleFlags ? 4 : 0);
  const entryBytes = 4 * sampleFields.filter((bit) => set & bit).length;
  if (start + samples * entryBytes > trun.length)
    throw new Mp4FormatError('trun has fewer samples than stated');
  const hasDuration = (set & flag.sampleDuration) !== 0;
  const hasComposition = (set & flag.sampleCompositionOffset) !== 0;
  return { bytes: trun, samples, start, entryBytes, hasDuration, hasComposition };
}

/** The same fragment with 64-bit decode times. Offsets from its start move by its growth. */
export function withWideTimes(moof: Buffer): Buffer {
  const boxes = childBoxes(moof);
  const narrow = boxes.flatMap(({ type, bytes }) =>
    type === 'traf' ? childBoxes(bytes).filter((box) => box.type === 'tfdt' && box.bytes[8] === 0) : [],
  );
  const growth = 4 * narrow.length;
  const firstTrack = boxes.findIndex(({ type }) => type === 'traf');
  const grown = boxes.map((box, index) =>
    box.type === 'traf' ? withWideTime(box, index === firstTrack, growth) : box.bytes,
  );
  return makeBox('moof', grown);
}

function withWideTime(traf: Box, isFirst: boolean, growth: number): Buffer {
  const children = childBoxes(traf.bytes);
  const header = children.find(({ type }) => type === 'tfhd');
  // Otherwise its data offsets count from the end of the previous track.
  const isFromStart = isFirst || (header !== undefined && (flagsOf(header.bytes) & 0x02_0001) !== 0);
  const parts = children.map((box) => {
    if (box.type === 'tfdt' && box.bytes[8] === 0) {
      const body = Buffer.alloc(12);
      body.writeUInt8(1);
      body.writeUInt32BE(box.bytes.readUInt32BE(12), 8);
      return makeBox('tfdt', [body]);
    }
    if (box.type !== 'trun' || !isFromStart || (flagsOf(box.bytes) & 0x01) === 0) return box.bytes;
    const moved = Buffer.from(box.bytes);
    moved.writeInt32BE(moved.readInt32BE(16) + growth, 16);
    return moved;
  });
  return makeBox('traf', parts);
}
