import type { StructureCheck } from './structure-check.js';

const headerBytes = 12;
/** Lists whose content is read: the file itself, its media, and groups of chunks. */
const entered = new Set(['AVI ', 'AVIX', 'movi', 'rec ']);

/**
 * Follows the chunks of an AVI without a stated size, whose writer couldn't go back. The last chunk shows
 * whether the file is complete.
 */
export class AviChunks implements StructureCheck {
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;
  #left = 0;
  #isOver = false;
  statedBytes: number | undefined;

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (!this.#isOver) {
      const passed = Math.min(this.#left, bytes.length - at);
      this.skip(passed);
      at += passed;
      if (this.#left > 0 || bytes.length - at < headerBytes) break;
      at += this.#begin(bytes.subarray(at, at + headerBytes));
    }
    this.#rest = this.#isOver ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  canSkip(bytes: number): boolean {
    return this.#isOver || bytes <= this.#left - this.#rest.length;
  }

  skip(bytes: number): void {
    this.#left -= Math.min(this.#left, bytes);
    this.#position += bytes;
  }

  /** @returns the size of the header */
  #begin(header: Buffer): number {
    const [name, type] = [header.toString('latin1', 0, 4), header.toString('latin1', 8, 12)];
    const isEntered = (name === 'RIFF' || name === 'LIST') && entered.has(type);
    // Anything else may follow an AVI.
    this.#isOver = !/^[\w ]{4}$/u.test(name);
    if (this.#isOver) return 0;
    const ownBytes = isEntered ? headerBytes : 8;
    const size = isEntered ? 0 : header.readUInt32LE(4);
    this.#position += ownBytes;
    this.statedBytes = this.#position + size;
    this.#left = size + (size % 2);
    return ownBytes;
  }
}
