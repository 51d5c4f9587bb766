/** An area of a matte; `right` and `bottom` are just outside. */
export interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** For {@link isFilledWith}, which reads at any offset. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Whether an area of a matte has only one value. Compares four bytes at a time; the last four may overlap. */
export function isFilledWith(matte: DataView, width: number, area: Bounds, value: number): boolean {
  const { left, top, right, bottom } = area;
  const four = Math.imul(value, 0x01010101);
  for (let y = top; y < bottom; y++) {
    const start = y * width + left;
    const end = y * width + right;
    const last = end - 4;
    if (last < start) {
      for (let at = start; at < end; at++) if (matte.getUint8(at) !== value) return false;
      continue;
    }
    for (let at = start; at < last; at += 4) if (matte.getInt32(at, true) !== four) return false;
    if (matte.getInt32(last, true) !== four) return false;
  }
  return true;
}

/** Four bytes at a time: 0 if all are 0, -1 if all are 255. Loops over mattes skip such groups quickly. */
export function groupsOfFour(bytes: Uint8Array): Int32Array {
  if (bytes.byteOffset % 4 === 0)
    return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  throw new Error('A matte must start at a multiple of four bytes.');
}
