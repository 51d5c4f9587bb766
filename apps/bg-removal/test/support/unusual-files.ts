import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** End of the signature and the IHDR chunk. */
const headerEnd = 8 + 25;

/** Makes an APNG of two frames from a PNG: the image itself and one black pixel. */
export function animatedPng(png: Buffer): Buffer {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const control = Buffer.alloc(8);
  control.writeUInt32BE(2, 0);
  const frame = (sequence: number, w: number, h: number): Buffer => {
    const data = Buffer.alloc(26);
    data.writeUInt32BE(sequence, 0);
    data.writeUInt32BE(w, 4);
    data.writeUInt32BE(h, 8);
    data.writeUInt16BE(1, 20);
    data.writeUInt16BE(10, 22);
    return pngChunk('fcTL', data);
  };
  const end = png.length - 12;
  return Buffer.concat([
    png.subarray(0, headerEnd),
    pngChunk('acTL', control),
    frame(0, width, height),
    png.subarray(headerEnd, end),
    frame(1, 1, 1),
    // zlib stream of one black RGB pixel, stored.
    pngChunk('fdAT', Buffer.from('000000027801010400fbff00000000000400 01'.replaceAll(' ', ''), 'hex')),
    png.subarray(end),
  ]);
}

/** A PNG whose header claims `width × height` pixels, with almost no data. */
export function bombPng(width: number, height: number): Buffer {
  return png({ width, height, colourType: 6, data: Buffer.from('789c030000000001', 'hex') });
}

/**
 * A complete black PNG of a few hundred kilobytes for any number of pixels. Written by hand,
 * because libvips works line by line, which takes minutes for millions of lines.
 */
export function blackPng(width: number, height: number): Buffer {
  // Each line is a byte for the filter and one for each pixel.
  const data = deflateSync(Buffer.alloc((width + 1) * height), { level: 1 });
  return png({ width, height, colourType: 0, data });
}

/** A PNG with 8 bits per channel (PNG, 11.2.2: the fields of IHDR). */
function png(image: { width: number; height: number; colourType: number; data: Buffer }): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(image.width, 0);
  header.writeUInt32BE(image.height, 4);
  header.set([8, image.colourType, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', image.data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Grey with alpha, interlaced. */
export function interlacedGreyAlpha(picture: Sharp): Promise<Buffer> {
  return picture.greyscale().ensureAlpha().toColourspace('b-w').png({ progressive: true }).toBuffer();
}

/** A 4 × 4 PNG in one colour (samples as stored), with extra chunks before the pixels. */
export function colourPng(image: {
  depth: number;
  colourType: number;
  samples: readonly number[];
  chunks: readonly Buffer[];
}): Buffer {
  const side = 4;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([image.depth, image.colourType, 0, 0, 0], 8);
  const bytes = image.depth / 8;
  const pixel = Buffer.alloc(image.samples.length * bytes);
  image.samples.forEach((sample, i) => pixel.writeUIntBE(sample, i * bytes, bytes));
  const row = Buffer.concat([Buffer.of(0), ...Array<Buffer>(side).fill(pixel)]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...image.chunks,
    pngChunk('IDAT', deflateSync(Buffer.concat(Array<Buffer>(side).fill(row)))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

const huffmanTable = 0xc4;
const startOfScan = 0xda;

/** The segments of a JPEG with their markers; the data of a scan belongs to its segment. */
function segmentsOf(jpeg: Buffer): { marker: number; start: number; end: number }[] {
  const segments: { marker: number; start: number; end: number }[] = [];
  for (let at = 2; at < jpeg.length - 2;) {
    const marker = jpeg[at + 1] ?? 0;
    let end = at + 2 + jpeg.readUInt16BE(at + 2);
    if (marker === startOfScan) while (jpeg[end] !== 0xff || jpeg[end + 1] === 0) end++;
    segments.push({ marker, start: at, end });
    at = end;
  }
  return segments;
}

/**
 * A single-coloured progressive JPEG that repeats the same empty scan: a small file for which a
 * decoder processes the whole image once per scan.
 */
export async function manyScansJpeg(side: number, scans: number): Promise<Buffer> {
  const plain = await sharp({ create: { width: side, height: side, channels: 3, background: '#c86432' } })
    .jpeg({ progressive: true })
    .toBuffer();
  const segments = segmentsOf(plain);
  // The first scan of fine detail in blue: component 2, coefficients from 1 on, none of them set.
  const index = segments.findIndex(
    ({ marker, start }) => marker === startOfScan && plain[start + 5] === 2 && plain[start + 7] === 1,
  );
  const scan = segments[index];
  const table = segments[index - 1];
  if (scan === undefined || table?.marker !== huffmanTable)
    throw new Error('The JPEG has an unexpected structure.');
  const empty = Buffer.from(plain.subarray(table.start, scan.end));
  // Code at full precision at once, which may be repeated.
  empty[scan.start - table.start + 9] = 0;
  const end = plain.length - 2;
  const repeated = Array.from({ length: scans }, () => empty);
  return Buffer.concat([plain.subarray(0, end), ...repeated, plain.subarray(end)]);
}
