import { DamagedMediaError, type StructureCheck } from './structure-check.js';

const longestHeaderBytes = 16;

/**
 * Follows the boxes of an MP4. Players show only the first of several fragmented files joined into one, and
 * ffmpeg mixes up their times.
 */
export class Mp4Boxes implements StructureCheck {
  #rest: Buffer = Buffer.alloc(0);
  #left = 0;
  #isOver = false;
  #hasFragments = false;

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (!this.#isOver) {
      const passed = Math.min(this.#left, bytes.length - at);
      this.#left -= passed;
      at += passed;
      if (this.#left > 0 || bytes.length - at < longestHeaderBytes) break;
      this.#begin(bytes.subarray(at, at + longestHeaderBytes));
    }
    this.#rest = this.#isOver ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  canSkip(bytes: number): boolean {
    return this.#isOver || bytes <= this.#left - this.#rest.length;
  }

  skip(bytes: number): void {
    this.#left -= Math.min(this.#left, bytes);
  }

  #begin(header: Buffer): void {
    const [size32, type] = [header.readUInt32BE(0), header.toString('latin1', 4, 8)];
    const size = size32 === 1 ? Number(header.readBigUInt64BE(8)) : size32;
    // Anything may follow an MP4, and the last box may extend to the end.
    this.#isOver = size < 8 || !Number.isSafeInteger(size);
    if (type === 'moof') this.#hasFragments = true;
    if (type === 'moov' && this.#hasFragments)
      throw new DamagedMediaError('it consists of several files joined into one');
    this.#left = this.#isOver ? 0 : size;
  }
}
