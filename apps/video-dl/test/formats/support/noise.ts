/** Pseudo-random bytes, the same each time. */
export function noise(length: number): Buffer {
  let state = 0x2545f491;
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes.writeUInt8(state >>> 24, at);
  }
  return bytes;
}

/** A file with some of its bytes replaced by random ones, starting at `at`. */
export function withNoise(bytes: Buffer, at: number, length: number): Buffer {
  const changed = Buffer.from(bytes);
  noise(Math.min(length, bytes.length - at)).copy(changed, at);
  return changed;
}
