// Generated from apps/bg-removal/src/matte/uniform.ts by `npm run docs:generate`. Edit that file instead.
/** For {@link isFilledWith}, which reads at any offset. */
export function viewOf({ buffer, byteOffset, byteLength }) {
  return new DataView(buffer, byteOffset, byteLength);
}
/** Whether an area of a matte has only one value. Compares four bytes at a time. */
export function isFilledWith(matte, width, area, value) {
  const four = Math.imul(value, 0x01010101);
  for (let y = area.top; y < area.bottom; y++) {
    const end = y * width + area.right;
    let at = y * width + area.left;
    for (; at + 4 <= end; at += 4) if (matte.getInt32(at, true) !== four) return false;
    for (; at < end; at++) if (matte.getUint8(at) !== value) return false;
  }
  return true;
}
