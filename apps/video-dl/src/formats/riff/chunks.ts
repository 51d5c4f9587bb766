import { maxOverstatedBytes, type StructureCheck, UnitWalker } from '../structure-check.js';

const headerBytes = 12;
/** Writers that can't go back leave 0 or a size near one of these limits. */
const smallestPlaceholder = 0x7fff_0000;

/** Follows the chunks of WAV and AVI to those with the media, whose header says where they end. */
export class RiffChunks extends UnitWalker implements StructureCheck {
  minBytes: number | undefined;

  protected beginUnit(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < headerBytes) return null;
    if (this.position === 0) return headerBytes;
    const [name, type] = [bytes.toString('latin1', at, at + 4), bytes.toString('latin1', at + 8, at + 12)];
    const size = bytes.readUInt32LE(at + 4);
    const chunkBytes = 8 + size + (size % 2);
    this.isOver = name === 'data' || (name === 'LIST' && type === 'movi');
    if (!this.isOver) this.left = chunkBytes;
    else if (size > 0 && size < smallestPlaceholder)
      this.minBytes = this.position + chunkBytes - maxOverstatedBytes;
    return 0;
  }
}
