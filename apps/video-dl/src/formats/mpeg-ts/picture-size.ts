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
const sequenceParameters = 7;

/**
 * The size of H.264 video, if a set of its parameters is among these bytes (ISO 14496-10, 7.3.2.1.1).
 * @returns undefined also if the set doesn't end with them, or has scaling matrices
 */
export function pictureSizeIn(bytes: Buffer): PictureSize | undefined {
  let at = bytes.indexOf(startCode);
  while (at !== -1 && ((bytes[at + 3] ?? 0) & 0x1f) !== sequenceParameters)
    at = bytes.indexOf(startCode, at + 3);
  return at === -1 ? undefined : sizeOf(new Bits(bytes.subarray(at + 4)));
}

/** Profiles whose parameters begin with the format of the samples. */
const highProfiles = [100, 110, 122, 244, 44, 83, 86, 118, 128];

function sizeOf(bits: Bits): PictureSize | undefined {
  const profile = bits.take(8);
  bits.take(16);
  bits.number();
  if (highProfiles.includes(profile)) {
    if (bits.number() === 3) bits.take(1);
    bits.skipNumbers(2);
    // Whether the transform may be bypassed, and whether there are scaling matrices.
    if (bits.take(2) % 2 === 1) return undefined;
  }
  bits.number();
  const order = bits.number();
  if (order === 0) bits.number();
  if (order === 1) {
    bits.take(1);
    bits.skipNumbers(2);
    bits.skipNumbers(bits.number());
  }
  bits.number();
  bits.take(1);
  const [columns, rows] = [bits.number() + 1, bits.number() + 1];
  const fields = bits.take(1) === 1 ? 1 : 2;
  bits.take(fields);
  const isCropped = bits.take(1) === 1;
  const [left = 0, right = 0, top = 0, bottom = 0] = isCropped
    ? Array.from({ length: 4 }, () => bits.number())
    : [];
  if (bits.areOver) return undefined;
  return { width: 16 * columns - 2 * (left + right), height: fields * (16 * rows - 2 * (top + bottom)) };
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

  skipNumbers(count: number): void {
    for (let left = count; left > 0 && !this.areOver; left -= 1) this.number();
  }
}
