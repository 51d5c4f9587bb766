import { constants, createDeflate } from 'node:zlib';
import type { Rectangle } from './output.js';
import { pngChunk } from './png-colours.js';

/** Interleaved 8-bit pixels without padding: RGBA, or grey. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 4;
  readonly data: Uint8Array;
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const colourTypes = { 1: 0, 4: 6 } as const;
const inchesPerMetre = 1 / 0.0254;

/** Parts that are compressed at the same time. The same number everywhere, so that the file is too. */
const bands = 8;
/** Filtered bytes that a band compresses at a time, and the size of its output buffer. */
const pieceBytes = 1024 * 1024;
const outputBytes = 256 * 1024;

/**
 * Writes a PNG that declares sRGB (W3C PNG). Every row is filtered with "Up", and bytes are
 * compressed by runs and Huffman codes only; see docs/internals/decisions-bg-removal.md.
 * @param density in pixels per inch; undefined if the upload has none
 * @param filled all pixels outside this area are 0
 */
export async function writePng(
  raster: Raster,
  density: number | undefined,
  filled: Rectangle = { left: 0, top: 0, width: raster.width, height: raster.height },
): Promise<Uint8Array> {
  const rows = Math.ceil(raster.height / bands);
  const starts = Array.from({ length: Math.ceil(raster.height / rows) }, (_, band) => band * rows);
  const parts = await Promise.all(
    starts.map((start) => compress(raster, filled, start, Math.min(raster.height, start + rows))),
  );
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header(raster)),
    pngChunk('sRGB', Buffer.of(0)),
    ...(density === undefined ? [] : [pngChunk('pHYs', physicalSize(density))]),
    pngChunk('IDAT', zlibStream(parts)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function header({ width, height, channels }: Raster): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, colourTypes[channels]], 8);
  return data;
}

function physicalSize(density: number): Buffer {
  const data = Buffer.alloc(9);
  const pixelsPerMetre = Math.round(density * inchesPerMetre);
  data.writeUInt32BE(pixelsPerMetre, 0);
  data.writeUInt32BE(pixelsPerMetre, 4);
  data[8] = 1;
  return data;
}

/** A part of a zlib stream: whole deflate blocks without the last one, and what its checksum needs. */
interface CompressedBand {
  readonly blocks: Buffer;
  readonly adler: number;
  /** Bytes before compression. */
  readonly length: number;
}

const zlibHeaderBytes = 2;
const adlerBytes = 4;
/** The empty block that ends a stream after a flush. */
const lastBlock = Buffer.of(3, 0);

async function compress(
  raster: Raster,
  filled: Rectangle,
  start: number,
  end: number,
): Promise<CompressedBand> {
  const deflate = createDeflate({ strategy: constants.Z_RLE, memLevel: 9, chunkSize: outputBytes });
  const parts: Buffer[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    deflate.on('data', (part: Buffer) => parts.push(part));
    deflate.on('end', resolve).on('error', reject);
  });
  let length = 0;
  for (const piece of filteredRows(raster, filled, start, end)) {
    length += piece.length;
    // zlib is done with the piece before its memory is used for the next one.
    await Promise.race([new Promise<void>((resolve) => deflate.write(piece, () => resolve())), ended]);
  }
  await Promise.race([new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve)), ended]);
  deflate.end();
  await ended;
  const stream = Buffer.concat(parts);
  return {
    blocks: stream.subarray(zlibHeaderBytes, -lastBlock.length - adlerBytes),
    adler: stream.readUInt32BE(stream.length - adlerBytes),
    length,
  };
}

/** Rows from `start` to `end`, each behind the number of its filter. The pieces share their memory. */
function* filteredRows(
  { width, channels, data }: Raster,
  filled: Rectangle,
  start: number,
  end: number,
): Generator<Uint8Array> {
  const rowBytes = width * channels;
  const rowsAtOnce = Math.max(1, Math.floor(pieceBytes / (1 + rowBytes)));
  const piece = new Uint8Array(Math.min(rowsAtOnce, end - start) * (1 + rowBytes));
  const first = filled.left * channels;
  const bytes = filled.width * channels;
  const words = Math.ceil(bytes / 4);
  let [row, above] = [new Int32Array(words), new Int32Array(words)];
  const difference = new Int32Array(words);
  const read = (into: Int32Array, y: number): void =>
    new Uint8Array(into.buffer).set(data.subarray(y * rowBytes + first, y * rowBytes + first + bytes));
  if (start > 0) read(above, start - 1);
  let at = 0;
  for (let y = start; y < end; y++) {
    piece[at] = 2;
    const to = at + 1 + first;
    // The row below the area still differs from the one above it.
    if (y >= filled.top && y <= filled.top + filled.height) {
      read(row, y);
      subtractBytes(row, above, difference);
      piece.set(new Uint8Array(difference.buffer, 0, bytes), to);
      [row, above] = [above, row];
    } else {
      piece.fill(0, to, to + bytes);
    }
    at += 1 + rowBytes;
    if (at === piece.length || y === end - 1) {
      yield piece.subarray(0, at);
      at = 0;
    }
  }
}

/** Subtracts each byte from its counterpart, four at a time: no borrow passes the highest bit of a byte. */
function subtractBytes(from: Int32Array, what: Int32Array, result: Int32Array): void {
  for (let i = 0; i < result.length; i++) {
    const a = from[i] ?? 0;
    const b = what[i] ?? 0;
    result[i] = ((a | 0x80808080) - (b & 0x7f7f7f7f)) ^ ((a ^ ~b) & 0x80808080);
  }
}

/** Joins the bands into one stream (RFC 1950). */
function zlibStream(bands: readonly CompressedBand[]): Buffer {
  const checksum = Buffer.alloc(adlerBytes);
  checksum.writeUInt32BE(bands.reduce(joinAdler, { adler: 1, length: 0 }).adler);
  return Buffer.concat([Buffer.of(0x78, 0x01), ...bands.map(({ blocks }) => blocks), lastBlock, checksum]);
}

type Checked = Pick<CompressedBand, 'adler' | 'length'>;
const adlerBase = 65_521;

/** The checksum of two parts: the sum of bytes, and the sum of all those sums (RFC 1950, 8.2). */
function joinAdler(first: Checked, second: Checked): Checked {
  const [a1, b1] = [first.adler & 0xffff, first.adler >>> 16];
  const [a2, b2] = [second.adler & 0xffff, second.adler >>> 16];
  const a = (a1 + a2 - 1 + adlerBase) % adlerBase;
  const b = (b1 + b2 + (second.length % adlerBase) * (a1 - 1 + adlerBase)) % adlerBase;
  return { adler: ((b << 16) | a) >>> 0, length: first.length + second.length };
}
