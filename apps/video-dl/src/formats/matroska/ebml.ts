export interface ElementHeader {
  readonly id: number;
  /** Size of the content; null if unknown, in which case it ends before the first element that can't be a child. */
  readonly size: number | null;
  readonly headerSize: number;
}

/** Matroska's structural element ids (RFC 9559, 5.1). */
export const matroskaIds = { header: 0x1a45dfa3, segment: 0x18538067, cluster: 0x1f43b675 } as const;

/** Void and CRC-32. */
const anywhere = [0xec, 0xbf];
/** Allowed at the top level and in a Segment. */
export const topElements: ReadonlySet<number> = new Set([
  ...[matroskaIds.header, matroskaIds.segment, matroskaIds.cluster, ...anywhere],
  // Seek head, info, tracks, cues, attachments, chapters and tags.
  ...[0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367],
]);
export const clusterElements: ReadonlySet<number> = new Set([
  ...[0xe7, 0x5854, 0xa7, 0xab, 0xa3, 0xa0, 0xaf, ...anywhere],
]);

/** The longest element header in Matroska. */
export const maxElementHeaderBytes = 12;

/** Parses the EBML element header at `at` (RFC 8794, 5 and 6). Null if bytes are missing, undefined if it isn't a header. */
export function readElementHeader(bytes: Buffer, at = 0): ElementHeader | null | undefined {
  const first = bytes[at];
  if (first === undefined) return null;
  const idSize = Math.clz32(first) - 23;
  if (first === 0 || idSize > 4) return undefined;
  const sizeAt = at + idSize;
  const second = bytes[sizeAt];
  if (second === undefined) return null;
  const sizeSize = Math.clz32(second) - 23;
  if (second === 0) return undefined;
  // Fast path: small elements are the most frequent.
  if (idSize === 1 && sizeSize === 1 && second !== 0xff)
    return { id: first, size: second & 0x7f, headerSize: 2 };
  if (bytes.length < sizeAt + sizeSize) return null;
  let size = second & (0xff >> sizeSize);
  let isUnknown = size === 0xff >> sizeSize;
  for (let next = sizeAt + 1; next < sizeAt + sizeSize; next += 1) {
    const byte = bytes[next] ?? 0;
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return {
    id: bytes.readUIntBE(at, idSize),
    size: isUnknown ? null : size,
    headerSize: idSize + sizeSize,
  };
}
