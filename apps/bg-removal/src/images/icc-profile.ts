/** Chromaticities `[x, y]` of a colour space's primaries and white. */
export interface Primaries {
  readonly red: readonly [number, number];
  readonly green: readonly [number, number];
  readonly blue: readonly [number, number];
  readonly white: readonly [number, number];
}

export interface ColourSpace {
  readonly primaries: Primaries;
  /** Converts a stored value (0-1) to linear light (0-1). */
  readonly toLinear: (value: number) => number;
}

type Vector = readonly [number, number, number];
type Matrix = readonly [Vector, Vector, Vector];

/** The white point of ICC's profile connection space. */
const d50: Vector = [0.9642, 1, 0.8249];
const bradford: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];
const curvePoints = 4096;

/** The limit for a primary's X, Y or Z. Those of real spaces are below 1, imaginary ones slightly above. */
const maxComponent = 4;

/** Whether primaries span a colour space. Those on a line do not, and almost on one give absurd colours. */
export function spanColours(primaries: Primaries): boolean {
  return toD50(primaries).every((row) => row.every((value) => Math.abs(value) < maxComponent));
}

/** Builds a version 2 ICC profile (ICC.1:2001-04): a matrix and a curve, or only a curve for grey. */
export function iccProfile({ primaries, toLinear }: ColourSpace, isGrey: boolean): Buffer {
  const curve = Buffer.alloc(4 + 2 * curvePoints);
  curve.writeUInt32BE(curvePoints);
  for (let i = 0; i < curvePoints; i++) {
    const linear = Math.min(1, Math.max(0, toLinear(i / (curvePoints - 1))));
    curve.writeUInt16BE(Math.round(linear * 65_535), 4 + 2 * i);
  }
  const name = Buffer.from('as stated in the file\0', 'latin1');
  const nameLength = Buffer.alloc(4);
  nameLength.writeUInt32BE(name.length);
  const trc = tag('curv', curve);
  const [red, green, blue] = columns(toD50(primaries));
  return file(isGrey ? 'GRAY' : 'RGB ', {
    desc: tag('desc', nameLength, name, Buffer.alloc(4 + 4 + 2 + 1 + 67)),
    cprt: tag('text', Buffer.from('none\0', 'latin1')),
    wtpt: xyz(d50),
    ...(isGrey
      ? { kTRC: trc }
      : { rXYZ: xyz(red), gXYZ: xyz(green), bXYZ: xyz(blue), rTRC: trc, gTRC: trc, bTRC: trc }),
  });
}

function file(space: string, tags: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(tags);
  const table = Buffer.alloc(4 + entries.length * 12);
  table.writeUInt32BE(entries.length);
  let offset = 128 + table.length;
  for (const [i, [name, data]] of entries.entries()) {
    table.write(name, 4 + i * 12, 'latin1');
    table.writeUInt32BE(offset, 8 + i * 12);
    table.writeUInt32BE(data.length, 12 + i * 12);
    offset += data.length;
  }
  const header = Buffer.alloc(128);
  header.writeUInt32BE(offset);
  header.writeUInt32BE(0x02100000, 8);
  header.write(`mntr${space}XYZ `, 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  d50.forEach((value, i) => header.writeInt32BE(Math.round(value * 65_536), 68 + 4 * i));
  return Buffer.concat([header, table, ...entries.map(([, data]) => data)]);
}

/** A tag's content, padded to four bytes. */
function tag(type: string, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.from(type, 'latin1'), Buffer.alloc(4), ...content]);
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function xyz(values: Vector): Buffer {
  const content = Buffer.alloc(12);
  values.forEach((value, i) => content.writeInt32BE(Math.round(value * 65_536), 4 * i));
  return tag('XYZ ', content);
}

/** The matrix from linear RGB to XYZ, adapted to D50 (Bradford). */
function toD50({ red, green, blue, white }: Primaries): Matrix {
  const unscaled = transpose([fromXy(red), fromXy(green), fromXy(blue)]);
  const whiteXyz = fromXy(white);
  const [r, g, b] = apply(inverse(unscaled), whiteXyz);
  const toXyz = multiply(unscaled, diagonal([r, g, b]));
  const [fromL, fromM, fromS] = apply(bradford, whiteXyz);
  const [toL, toM, toS] = apply(bradford, d50);
  const scale = diagonal([toL / fromL, toM / fromM, toS / fromS]);
  return multiply(inverse(bradford), multiply(scale, multiply(bradford, toXyz)));
}

function fromXy([x, y]: readonly [number, number]): Vector {
  return [x / y, 1, (1 - x - y) / y];
}

function apply([a, b, c]: Matrix, [x, y, z]: Vector): Vector {
  const dot = (row: Vector): number => row[0] * x + row[1] * y + row[2] * z;
  return [dot(a), dot(b), dot(c)];
}

function transpose([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  return [
    [a, d, g],
    [b, e, h],
    [c, f, i],
  ];
}

const columns = transpose;

function multiply(left: Matrix, right: Matrix): Matrix {
  const [a, b, c] = columns(right);
  return transpose([apply(left, a), apply(left, b), apply(left, c)]);
}

function diagonal([a, b, c]: Vector): Matrix {
  return [
    [a, 0, 0],
    [0, b, 0],
    [0, 0, c],
  ];
}

function inverse([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const over = (value: number): number => value / determinant;
  return [
    [over(e * i - f * h), over(c * h - b * i), over(b * f - c * e)],
    [over(f * g - d * i), over(a * i - c * g), over(c * d - a * f)],
    [over(d * h - e * g), over(b * g - a * h), over(a * e - b * d)],
  ];
}
