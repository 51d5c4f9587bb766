export interface ElementHeader {
  readonly id: number;
  /** Of the content; null: unknown, up to the next element that cannot be inside. */
  readonly size: number | null;
  readonly headerSize: number;
}

/** The longest header that Matroska has. */
export const maxElementHeaderBytes = 12;

/** Reads an EBML element's header (RFC 8794, 5 and 6); null when bytes are missing, undefined when it is none. */
export function readElementHeader(bytes: Buffer): ElementHeader | null | undefined {
  const [first] = bytes;
  if (first === undefined) return null;
  const idSize = Math.clz32(first) - 23;
  if (first === 0 || idSize > 4) return undefined;
  const second = bytes[idSize];
  if (second === undefined) return null;
  const sizeSize = Math.clz32(second) - 23;
  if (second === 0) return undefined;
  if (bytes.length < idSize + sizeSize) return null;
  let size = second & (0xff >> sizeSize);
  let isUnknown = size === 0xff >> sizeSize;
  for (let at = idSize + 1; at < idSize + sizeSize; at += 1) {
    const byte = bytes.readUInt8(at);
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return {
    id: bytes.readUIntBE(0, idSize),
    size: isUnknown ? null : size,
    headerSize: idSize + sizeSize,
  };
}
