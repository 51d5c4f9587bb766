import { isLong, Mp4FormatError } from './box.js';

/** After the last fragment there may be a list of random access points (`mfra`). */
export const maxTrailerBytes = 16 * 1024;

/** One or more fragments of a file that its index lists. */
export interface IndexedPart {
  readonly bytes: number;
  /** In the index's timescale. */
  readonly duration: number;
  /** Where to enter the stream (ISO 14496-12, 8.16.3.3). */
  readonly accessPoint: number;
}

/** What a `sidx` box lists (ISO 14496-12, 8.16.3). */
export interface SegmentIndex {
  readonly timescale: number;
  /** Of the first part, in this timescale. */
  readonly firstTime: number;
  /** From the end of the box to the first part. */
  readonly firstOffset: number;
  readonly parts: readonly IndexedPart[];
  /** From the end of the box to the end of the last part. */
  readonly bytes: number;
  /** Undefined if the box refers to other indexes, whose durations aren't available here. */
  readonly seconds: number | undefined;
}

/** @throws Mp4FormatError, RangeError for a damaged box */
export function readSegmentIndex(sidx: Buffer): SegmentIndex {
  const wide = isLong({ bytes: sidx });
  const timescale = sidx.readUInt32BE(16);
  if (timescale === 0) throw new Mp4FormatError('an index has the timescale 0');
  const firstOffset = wide ? Number(sidx.readBigUInt64BE(28)) : sidx.readUInt32BE(24);
  const countAt = (wide ? 36 : 28) + 2;
  const parts: IndexedPart[] = [];
  let [bytes, duration, hasIndexes] = [firstOffset, 0, false];
  for (let index = 0; index < sidx.readUInt16BE(countAt); index += 1) {
    const at = countAt + 2 + index * 12;
    // The upper bit says that the part is another index.
    const reference = sidx.readUInt32BE(at);
    const part = {
      bytes: reference % 0x8000_0000,
      duration: sidx.readUInt32BE(at + 4),
      accessPoint: sidx.readUInt32BE(at + 8),
    };
    parts.push(part);
    bytes += part.bytes;
    duration += part.duration;
    hasIndexes ||= reference !== part.bytes;
  }
  return {
    timescale,
    firstTime: wide ? Number(sidx.readBigUInt64BE(20)) : sidx.readUInt32BE(20),
    firstOffset,
    parts,
    bytes,
    seconds: hasIndexes ? undefined : duration / timescale,
  };
}
