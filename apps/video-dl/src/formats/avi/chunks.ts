import { UnitCheck } from '../structure-check.js';

const headerBytes = 12;
/** Lists whose content is read: the file itself, its media, and groups of chunks. */
const entered = new Set(['AVI ', 'AVIX', 'movi', 'rec ']);

/**
 * Follows the chunks of an AVI without a stated size, whose writer couldn't go back. The last chunk shows
 * whether the file is complete.
 */
export class AviChunks extends UnitCheck {
  #position = 0;
  statedBytes: number | undefined;

  override skip(bytes: number): void {
    super.skip(bytes);
    this.#position += bytes;
  }

  protected begin(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < headerBytes) return null;
    const [name, type] = [bytes.toString('latin1', at, at + 4), bytes.toString('latin1', at + 8, at + 12)];
    const isEntered = (name === 'RIFF' || name === 'LIST') && entered.has(type);
    // Anything else may follow an AVI.
    this.isOver = !/^[\w ]{4}$/u.test(name);
    if (this.isOver) return 0;
    const ownBytes = isEntered ? headerBytes : 8;
    const size = isEntered ? 0 : bytes.readUInt32LE(at + 4);
    this.#position += ownBytes;
    this.statedBytes = this.#position + size;
    this.left = size + (size % 2);
    return ownBytes;
  }
}
