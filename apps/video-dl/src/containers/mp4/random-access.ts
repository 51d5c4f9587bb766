import { childBoxes, Mp4FormatError } from './box.js';

/**
 * The mfra box (ISO 14496-12, 8.8.9) with every position of a fragment moved by
 * `delta`: the fragments lie that much later in a file whose moov has grown.
 */
export function withMovedFragments(mfra: Buffer, delta: number): Buffer {
  const moved = Buffer.from(mfra);
  for (const { type, bytes } of childBoxes(moved)) if (type === 'tfra') moveEntries(bytes, delta);
  return moved;
}

function moveEntries(tfra: Buffer, delta: number): void {
  const wide = tfra.readUInt8(8) === 1;
  const numberSizes = tfra.readUInt32BE(16);
  const numbersSize = ((numberSizes >> 4) & 3) + ((numberSizes >> 2) & 3) + (numberSizes & 3) + 3;
  const count = tfra.readUInt32BE(20);
  const entrySize = (wide ? 16 : 8) + numbersSize;
  if (24 + count * entrySize > tfra.length) throw new Mp4FormatError('tfra has fewer entries than it says');
  for (let index = 0; index < count; index += 1) {
    const offset = 24 + index * entrySize + (wide ? 8 : 4);
    if (wide) tfra.writeBigUInt64BE(tfra.readBigUInt64BE(offset) + BigInt(delta), offset);
    else tfra.writeUInt32BE(tfra.readUInt32BE(offset) + delta, offset);
  }
}
