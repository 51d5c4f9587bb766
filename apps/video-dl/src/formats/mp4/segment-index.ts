/** What a `sidx` box lists (ISO 14496-12, 8.16.3). */
interface SegmentIndex {
  readonly timescale: number;
  /** From the end of the box to the first part. */
  readonly firstOffset: number;
  readonly parts: readonly { readonly bytes: number; readonly units: number; readonly isIndex: boolean }[];
}

/** @throws RangeError for a damaged box */
function readIndex(sidx: Buffer): SegmentIndex {
  const isWide = sidx.readUInt8(8) === 1;
  const countAt = (isWide ? 36 : 28) + 2;
  return {
    timescale: sidx.readUInt32BE(16),
    firstOffset: isWide ? Number(sidx.readBigUInt64BE(28)) : sidx.readUInt32BE(24),
    parts: Array.from({ length: sidx.readUInt16BE(countAt) }, (_, index) => {
      const at = countAt + 2 + index * 12;
      const reference = sidx.readUInt32BE(at);
      return {
        bytes: reference % 0x8000_0000,
        units: sidx.readUInt32BE(at + 4),
        isIndex: reference >= 0x8000_0000,
      };
    }),
  };
}

/** Undefined if the box refers to other indexes, whose durations aren't available here. */
export function indexSeconds(sidx: Buffer): number | undefined {
  const { timescale, parts } = readIndex(sidx);
  if (timescale === 0 || parts.some(({ isIndex }) => isIndex)) return undefined;
  return parts.reduce((sum, { units }) => sum + units, 0) / timescale;
}

/** How many bytes after a `sidx` box it indexes. */
export function indexedBytes(sidx: Buffer): number {
  const { firstOffset, parts } = readIndex(sidx);
  return parts.reduce((sum, { bytes }) => sum + bytes, firstOffset);
}

/** Whether a `sidx` box indexes more than the fragment after it. */
export function indexesSeveralFragments(sidx: Buffer): boolean {
  return readIndex(sidx).parts.length > 1;
}
