import type { PartialFile } from '../partial-file.js';
import { maxOverstatedBytes, type StructureCheck, UnitWalker } from '../structure-check.js';

const headerBytes = 12;
const soundFormatBytes = 20;
/** PCM as integers or floats, and formats with more fields, in which each second has as many bytes. */
const constantFormats = [0x0001, 0x0003, 0xfffe];
const wavHeadBytes = 64 * 1024;
/** Writers that can't go back leave 0 or a size near one of these limits. */
const smallestPlaceholder = 0x7fff_0000;

/** Follows the chunks of WAV and AVI to those with the media, whose header says where they end. */
export class RiffChunks extends UnitWalker implements StructureCheck {
  minBytes: number | undefined;
  #bytesPerSecond = 0;
  /** Of PCM; null if the file doesn't say. */
  seconds: number | null = null;

  protected beginUnit(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < headerBytes) return null;
    if (this.position === 0) return headerBytes;
    const [name, type] = [bytes.toString('latin1', at, at + 4), bytes.toString('latin1', at + 8, at + 12)];
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'fmt ') {
      if (bytes.length - at < soundFormatBytes) return null;
      if (constantFormats.includes(bytes.readUInt16LE(at + 8)))
        this.#bytesPerSecond = bytes.readUInt32LE(at + 16);
    }
    const chunkBytes = 8 + size + (size % 2);
    this.isOver = name === 'data' || (name === 'LIST' && type === 'movi');
    if (!this.isOver) this.left = chunkBytes;
    else if (size > 0 && size < smallestPlaceholder) {
      this.minBytes = this.position + chunkBytes - maxOverstatedBytes;
      if (name === 'data' && this.#bytesPerSecond > 0) this.seconds = size / this.#bytesPerSecond;
    }
    return 0;
  }
}

/** Null if the file doesn't say. @throws MissingBytes */
export function wavSeconds(file: PartialFile): number | null {
  const chunks = new RiffChunks();
  chunks.push(file.read(0, wavHeadBytes));
  return chunks.seconds;
}
