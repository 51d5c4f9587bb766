import { matroskaIds } from '../ebml.js';
import { id3TagBytes } from '../mp3-frames.js';
import { FrameChain } from './frame-chain.js';
import { MatroskaElements } from './matroska-elements.js';
import { OggPages } from './ogg-pages.js';
import { DamagedMediaError, type StructureCheck } from './structure-check.js';

/** So many bytes tell what a file is. */
const sniffedBytes = 12;

/**
 * Checks a file as its parts are read, in whatever order: what comes in a row from the
 * beginning is followed, what was read ahead of that (an index at the end) is not
 * judged, nor is what is skipped for good.
 */
export class FileStructure {
  #check: StructureCheck | null | undefined;
  #beginning: Buffer = Buffer.alloc(0);
  /** Up to which byte the file is known. */
  #position = 0;

  /**
   * Where the file ends, once that is known.
   * @throws DamagedMediaError where the file says that it goes on
   */
  endsAt(bytes: number): void {
    if ((this.#check?.statedBytes ?? 0) > bytes) throw new DamagedMediaError('its end is missing');
  }

  /**
   * Bytes of the file that were read.
   * @param offset of the first of them
   * @throws DamagedMediaError where the file cannot be what it began as
   */
  read(offset: number, bytes: Buffer): void {
    const gap = offset - this.#position;
    if (this.#check === null || offset + bytes.length <= this.#position) return;
    if (gap > 0) {
      if (this.#check?.canSkip(gap) !== true) return;
      this.#check.skip(gap);
    }
    this.#position = offset + bytes.length;
    this.#push(bytes.subarray(Math.max(0, -gap)));
  }

  #push(bytes: Buffer): void {
    if (this.#check === undefined) {
      this.#beginning = Buffer.concat([this.#beginning, bytes]);
      if (this.#beginning.length < sniffedBytes) return;
      this.#check = checkFor(this.#beginning);
      this.#check?.push(this.#beginning);
      this.#beginning = Buffer.alloc(0);
    } else this.#check?.push(bytes);
  }
}

/** The structure that a file with this beginning must have; null if we don't follow its format. */
function checkFor(beginning: Buffer): StructureCheck | null {
  const word = beginning.readUInt32BE(0);
  if (word === matroskaIds.header) return new MatroskaElements();
  if (word === 0x4f676753) return new OggPages();
  const isSync = word >>> 21 === 0x7ff;
  return isSync || id3TagBytes(beginning) > 0 ? new FrameChain() : null;
}
