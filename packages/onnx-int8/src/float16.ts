/**
 * Widens IEEE 754 half-precision numbers (little endian) to single precision.
 * Exact: every half, subnormals and infinities included, has a float of the same value.
 */
export function widenFloat16(halves: Uint8Array): Uint8Array {
  if (halves.byteLength % 2 !== 0) throw new Error('Half-precision data has an odd number of bytes.');
  const source = new DataView(halves.buffer, halves.byteOffset, halves.byteLength);
  const count = halves.byteLength / 2;
  const result = new Uint8Array(count * 4);
  const target = new DataView(result.buffer);
  for (let i = 0; i < count; i++) target.setUint32(i * 4, floatBits(source.getUint16(i * 2, true)), true);
  return result;
}

function floatBits(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return (sign | 0x7f800000 | (fraction << 13)) >>> 0;
  if (exponent !== 0) return (sign | ((exponent + 112) << 23) | (fraction << 13)) >>> 0;
  if (fraction === 0) return sign >>> 0;
  // Subnormal half: normalise the fraction, whose leading one becomes implicit.
  const shift = Math.clz32(fraction) - 21;
  return (sign | ((113 - shift) << 23) | ((fraction << (13 + shift)) & 0x7fffff)) >>> 0;
}
