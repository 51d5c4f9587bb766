/** A marker segment with its length. */
function segment(marker: number, ...content: readonly number[]): number[] {
  const length = content.length + 2;
  return [0xff, marker, length >> 8, length & 0xff, ...content];
}

/** A Huffman table in which symbol `i` of `symbols` is the code `i` of `bits` bits. */
function flatHuffmanTable(classAndId: number, bits: number, symbols: readonly number[]): number[] {
  const counts = Array.from({ length: 16 }, (_, i) => (i + 1 === bits ? symbols.length : 0));
  return segment(0xc4, classAndId, ...counts, ...symbols);
}

/** YCbCr of JFIF, unrounded. */
function ycc([r = 0, g = 0, b = 0]: readonly number[]): [number, number, number] {
  return [
    0.299 * r + 0.587 * g + 0.114 * b,
    128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
    128 + 0.5 * r - 0.418688 * g - 0.081312 * b,
  ];
}

/**
 * An 8 × 8 baseline JPEG of one colour in YCCK, as Adobe's programs write it:
 * inverted ink, the first three channels as YCbCr.
 * @param ink C, M, Y, K, 0-255
 */
export function ycckJpeg([c, m, y, k]: readonly [number, number, number, number]): Buffer {
  const components = [...ycc([c, m, y]), 255 - k];
  const bits = components.map((value) => dcBits(Math.round(8 * (value - 128))) + endOfBlock).join('');
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  const scan = (padded.match(/.{8}/gu) ?? []).flatMap((byte) => {
    const value = Number.parseInt(byte, 2);
    return value === 0xff ? [0xff, 0] : [value];
  });
  const ids = [1, 2, 3, 4];
  return Buffer.from([
    ...[0xff, 0xd8],
    // APP14 "Adobe", version 100, no flags, transform 2: YCCK.
    ...segment(0xee, ...Buffer.from('Adobe'), 0, 100, 0, 0, 0, 0, 2),
    ...segment(0xdb, 0, ...new Array<number>(64).fill(1)),
    ...segment(0xc0, 8, 0, 8, 0, 8, 4, ...ids.flatMap((id) => [id, 0x11, 0])),
    ...flatHuffmanTable(
      0x00,
      4,
      Array.from({ length: 12 }, (_, category) => category),
    ),
    ...flatHuffmanTable(0x10, 1, [0]),
    ...segment(0xda, 4, ...ids.flatMap((id) => [id, 0]), 0, 63, 0),
    ...scan,
    ...[0xff, 0xd9],
  ]);
}

/** The only code of the AC table: no further coefficients. */
const endOfBlock = '0';

/** Category of a DC difference and its bits (ITU T.81, F.1.2.1). */
function dcBits(difference: number): string {
  const category = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
  const code = category.toString(2).padStart(4, '0');
  if (category === 0) return code;
  const value = difference > 0 ? difference : difference + 2 ** category - 1;
  return code + value.toString(2).padStart(category, '0');
}
