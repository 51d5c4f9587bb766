import { matroskaIds } from './matroska/ebml.js';
import { id3TagBytes } from './mpeg-audio/frames.js';
import { transportSync, TransportPackets } from './mpeg-ts/packets.js';
import { FrameChain } from './mpeg-audio/frame-chain.js';
import { MatroskaElements } from './matroska/elements.js';
import { Mp4Boxes } from './mp4/top-level-boxes.js';
import { OggPages } from './ogg/pages.js';
import { RiffChunks } from './riff/chunks.js';
import type { TrackChanges } from './joiner.js';
import { DamagedMediaError, type StructureCheck } from './structure-check.js';

/** Bytes needed to detect a file's format. */
const sniffedBytes = 12;

/**
 * Checks a file as its parts are read, in any order. Only the contiguous bytes from the
 * beginning are checked; parts read ahead (an index at the end) or skipped are not.
 */
export class FileStructure {
  #check: StructureCheck | null | undefined;
  #beginning: Buffer = Buffer.alloc(0);
  /** End of the contiguous bytes. */
  #position = 0;
  #size = Infinity;

  /**
   * Whether the file is proven complete, whatever duration it states: all of its stated bytes are there, or
   * every byte was read and only the timestamps state a duration.
   */
  get isWhole(): boolean {
    const isTransport = this.#check instanceof TransportPackets;
    const endsAt = this.#check?.statedBytes ?? (isTransport ? this.#size : Infinity);
    return endsAt <= this.#size && this.#position >= endsAt;
  }

  get changes(): TrackChanges {
    return this.#check?.changes ?? {};
  }

  /**
   * Sets the size of the file, once known.
   * @throws DamagedMediaError when the file states a larger size
   */
  endsAt(bytes: number): void {
    this.#size = bytes;
    const { statedBytes = 0, minBytes = 0 } = this.#check ?? {};
    if (Math.max(statedBytes, minBytes) > bytes) throw new DamagedMediaError('its end is missing');
  }

  /**
   * Takes bytes that were read.
   * @param offset of the first byte in the file
   * @throws DamagedMediaError when the bytes don't match the file's format
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

/** The check for a file that starts with these bytes; null if we don't check its format. */
function checkFor(beginning: Buffer): StructureCheck | null {
  const word = beginning.readUInt32BE(0);
  if (word === matroskaIds.header) return new MatroskaElements();
  if (word === 0x4f676753) return new OggPages();
  if (beginning.toString('latin1', 4, 8) === 'ftyp') return new Mp4Boxes();
  if (/^RIFF....(?:WAVE|AVI )/su.test(beginning.toString('latin1'))) return new RiffChunks();
  if (beginning[0] === transportSync) return new TransportPackets();
  const isSync = word >>> 21 === 0x7ff;
  return isSync || id3TagBytes(beginning) > 0 ? new FrameChain() : null;
}
