import { crc32 } from 'node:zlib';

/** Bytes of the signature, which every PNG begins with. */
const signatureBytes = 8;
/** Where the chunks behind the header (IHDR) begin. */
export const afterHeader = signatureBytes + 25;

export interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
  /** Where the chunk begins and ends in the file, its length and checksum included. */
  readonly start: number;
  readonly end: number;
}

/** The chunks of a PNG before its first pixels (W3C PNG, 5.3); stops where the file is damaged. */
export function* chunksBeforePixels(png: Uint8Array): Generator<PngChunk> {
  const file = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  for (let start = signatureBytes; start + 12 <= file.length;) {
    const length = file.readUInt32BE(start);
    const type = file.toString('latin1', start + 4, start + 8);
    const end = start + 12 + length;
    if (type === 'IDAT' || end > file.length) return;
    yield { type, data: file.subarray(start + 8, end - 4), start, end };
    start = end;
  }
}

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}
