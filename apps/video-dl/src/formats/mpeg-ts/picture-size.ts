/** In pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The largest of several sizes; undefined if there are no two. */
export function largestOf(sizes: readonly PictureSize[]): PictureSize | undefined {
  const [first] = sizes;
  if (first === undefined || sizes.every((size) => isSameSize(size, first))) return undefined;
  return sizes.reduce((most, size) => (size.width * size.height > most.width * most.height ? size : most));
}

export function isSameSize(one: PictureSize, other: PictureSize): boolean {
  return one.width === other.width && one.height === other.height;
}

const startCode = Buffer.from([0, 0, 1]);

interface ParameterReader {
  readonly isIn: (byte: number) => boolean;
  readonly headerBytes: number;
  readonly sizeOf: (bits: Bits) => PictureSize | undefined;
}

/** The NAL units that contain parameter sets in H.264 and HEVC, by stream type. */
const readers: Readonly<Partial<Record<number, ParameterReader>>> = {
  0x1b: { isIn: (byte) => (byte & 0x1f) === 7, headerBytes: 1, sizeOf: h264Size },
  0x24: { isIn: (byte) => ((byte >> 1) & 0x3f) === 33, headerBytes: 2, sizeOf: hevcSize },
};

/**
 * The size of video, if a set of its parameters is among these bytes.
 * @returns undefined also if the set doesn't end with them, for other types of streams, and for features that hardly
 * any encoder uses: scaling matrices, and cycles in the order of frames
 */
export function pictureSizeIn(bytes: Buffer, type: number): PictureSize | undefined {
  const reader = readers[type];
  if (reader === undefined) return undefined;
  const { isIn, headerBytes, sizeOf } = reader;
  let at = bytes.indexOf(startCode);
  while (at !== -1 && !isIn(bytes[at + 3] ?? 0)) at = bytes.indexOf(startCode, at + 3);
  if (at === -1) return undefined;
  const bits = new Bits(bytes.subarray(at + 3 + headerBytes));
  const size = sizeOf(bits);
  return bits.areOver ? undefined : size;
}

/** Profiles whose parameters begin with the format of the samples. */
const highProfiles = [100, 110, 122, 244, 44, 83, 86, 118, 128];

/** ISO 14496-10, 7.3.2.1.1. */
function h264Size(bits: Bits): PictureSize | undefined {
  const profile = bits.take(8);
  bits.take(16);
  bits.number();
  if (highProfiles.includes(profile)) {
    if (bits.number() === 3) bits.take(1);
    bits.number();
    bits.number();
    // Whether the transform may be bypassed, and whether there are scaling matrices.
    if (bits.take(2) % 2 === 1) return undefined;
  }
  bits.number();
  const order = bits.number();
  if (order === 0) bits.number();
  if (order === 1) return undefined;
  bits.number();
  bits.take(1);
  const [columns, rows] = [bits.number() + 1, bits.number() + 1];
  const fields = bits.take(1) === 1 ? 1 : 2;
  bits.take(fields);
  const [horizontal, vertical] = croppingIn(bits);
  return { width: 16 * columns - horizontal, height: fields * (16 * rows - vertical) };
}

/** ISO 23008-2, 7.3.2.2.1 and 7.3.3. */
function hevcSize(bits: Bits): PictureSize {
  bits.take(4);
  const layers = bits.take(3);
  bits.take(1);
  bits.take(96);
  const flags = Array.from({ length: layers }, () => [bits.take(1), bits.take(1)] as const);
  if (layers > 0) bits.take(2 * (8 - layers));
  for (const [hasProfile, hasLevel] of flags) bits.take(88 * hasProfile + 8 * hasLevel);
  bits.number();
  if (bits.number() === 3) bits.take(1);
  const [width, height] = [bits.number(), bits.number()];
  const [horizontal, vertical] = croppingIn(bits);
  return { width: width - horizontal, height: height - vertical };
}

/** The columns and rows that aren't shown, of samples with half the colour in each direction. */
function croppingIn(bits: Bits): readonly [number, number] {
  if (bits.take(1) === 0) return [0, 0];
  const [left, right, top, bottom] = [bits.number(), bits.number(), bits.number(), bits.number()];
  return [2 * (left + right), 2 * (top + bottom)];
}

/** The bits of a NAL unit, without the bytes that keep it from containing start codes. */
class Bits {
  areOver = false;
  readonly #bytes: readonly number[];
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = [...bytes].filter(
      (byte, index) => byte !== 3 || index < 2 || bytes.readUInt16BE(index - 2) !== 0,
    );
  }

  take(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1, this.#at += 1) {
      const byte = this.#bytes[this.#at >> 3];
      this.areOver ||= byte === undefined;
      value = value * 2 + (((byte ?? 0xff) >> (7 - (this.#at & 7))) & 1);
    }
    return value;
  }

  /** An Exponential-Golomb code (9.1). */
  number(): number {
    let zeros = 0;
    while (zeros < 32 && this.take(1) === 0) zeros += 1;
    return 2 ** zeros - 1 + this.take(zeros);
  }
}
