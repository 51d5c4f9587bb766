export interface ElementHeader {
  readonly id: number;
  /** Of the content; null: unknown, up to the next element that cannot be inside. */
  readonly size: number | null;
  readonly headerSize: number;
}

/** The longest header that Matroska has. */
export const maxElementHeaderBytes = 12;

/** Reads the EBML element header at `at` (RFC 8794, 5 and 6); null when bytes are missing, undefined when it is none. */
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
  // The smallest elements come in the largest numbers.
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
