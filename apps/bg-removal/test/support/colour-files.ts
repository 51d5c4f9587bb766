/** D50-adapted primaries of Adobe RGB (1998), XYZ. */
const primaries = {
  rXYZ: [0.60974, 0.31111, 0.01947],
  gXYZ: [0.20528, 0.62567, 0.06087],
  bXYZ: [0.14919, 0.06322, 0.74457],
} as const;
const d50 = [0.9642, 1, 0.8249] as const;
const gamma = 2.19921875;

function fixed(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Math.round(value * 65_536));
  return bytes;
}

function tag(type: string, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.from(type, 'latin1'), Buffer.alloc(4), ...content]);
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'latin1');
}

/** Name of a profile (ICC.1:2001-04, 6.5.17): ASCII, with empty Unicode and script parts. */
function description(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length + 1);
  return tag('desc', length, text(value), Buffer.alloc(4 + 4 + 2 + 1 + 67));
}

/** A version 2 matrix profile of the Adobe RGB (1998) colour space. */
export function adobeRgbProfile(): Buffer {
  const curve = Buffer.from([0, 0, 0, 1, 0, 0]);
  curve.writeUInt16BE(Math.round(gamma * 256), 4);
  const xyz = (values: readonly number[]): Buffer => tag('XYZ ', ...values.map(fixed));
  const tags: Record<string, Buffer> = {
    desc: description('Compatible with Adobe RGB (1998)'),
    cprt: tag('text', text('Public domain')),
    wtpt: xyz(d50),
    ...Object.fromEntries(Object.entries(primaries).map(([name, values]) => [name, xyz(values)])),
    rTRC: tag('curv', curve),
    gTRC: tag('curv', curve),
    bTRC: tag('curv', curve),
  };
  const names = Object.keys(tags);
  const table = Buffer.alloc(4 + names.length * 12);
  table.writeUInt32BE(names.length);
  let offset = 128 + table.length;
  names.forEach((name, i) => {
    const at = 4 + i * 12;
    table.write(name, at, 'latin1');
    table.writeUInt32BE(offset, at + 4);
    table.writeUInt32BE(tags[name]?.length ?? 0, at + 8);
    offset += tags[name]?.length ?? 0;
  });
  const header = Buffer.alloc(128);
  header.writeUInt32BE(offset);
  header.writeUInt32BE(0x02100000, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  Buffer.concat(d50.map(fixed)).copy(header, 68);
  return Buffer.concat([header, table, ...Object.values(tags)]);
}

/** A marker segment with its length. */
function segment(marker: number, ...content: readonly number[]): number[] {
  const length = content.length + 2;
  return [0xff, marker, length >> 8, length & 0xff, ...content];
}

/** A Huffman table that maps code `i` (of `bits` bits) to symbol `i`. */
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
 * An 8 × 8 baseline JPEG of one colour in YCCK, as written by Adobe's programs: inverted ink,
 * the first three channels as YCbCr.
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
