import { DamagedMediaError, UnitWalker } from '../structure-check.js';

const longestHeaderBytes = 16;

/**
 * Follows the boxes of an MP4. Players show only the first of several fragmented files joined into one, and
 * ffmpeg mixes up their times.
 */
export class Mp4Boxes extends UnitWalker {
  #hasFragments = false;

  /** @throws DamagedMediaError if the file ends within a box */
  end(): void {
    if (this.left > 0) throw new DamagedMediaError('its end is missing');
  }

  protected beginUnit(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < longestHeaderBytes) return null;
    const [size32, type] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)];
    const size = size32 === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : size32;
    // Anything may follow an MP4, and the last box may extend to the end.
    this.isOver = size < 8 || !Number.isSafeInteger(size);
    if (type === 'moof') this.#hasFragments = true;
    if (type === 'moov' && this.#hasFragments)
      throw new DamagedMediaError('it consists of several files joined into one');
    this.left = this.isOver ? 0 : size;
    return 0;
  }
}
