const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value < 0 ? 0x04c1_1db7 : 0);
  return value;
});

/** CRC-32 with the generator 0x04c11db7, most significant bit first. @param initial or the checksum of the bytes before these */
export function crc32(bytes: Buffer, initial: number): number {
  let value = initial;
  for (let at = 0; at < bytes.length; at += 1)
    value = (value << 8) ^ (table[(value >>> 24) ^ (bytes[at] ?? 0)] ?? 0);
  return value >>> 0;
}
