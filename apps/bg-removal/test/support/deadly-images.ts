import sharp from 'sharp';

const huffmanTable = 0xc4;
const startOfScan = 0xda;

/** Where the segments of a JPEG begin, with their markers; the data of a scan belongs to its segment. */
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
 * A progressive JPEG of one colour with the same empty scan over and over: a small
 * file for which a decoder goes through the whole image once for each.
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
  if (scan === undefined || table?.marker !== huffmanTable) throw new Error('The JPEG is not as expected.');
  const empty = Buffer.from(plain.subarray(table.start, scan.end));
  // To full precision at once, which may be said again and again.
  empty[scan.start - table.start + 9] = 0;
  const end = plain.length - 2;
  const repeated = Array.from({ length: scans }, () => empty);
  return Buffer.concat([plain.subarray(0, end), ...repeated, plain.subarray(end)]);
}
