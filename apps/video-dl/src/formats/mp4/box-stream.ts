import { UnitFilter } from '../structure-check.js';
import { readBoxHeader, type BoxHeader } from './box.js';

/** What happens to a box: its bytes pass unchanged, are dropped, or are held until the box is complete. */
export type BoxTreatment = 'pass' | 'drop' | 'hold';

/** Walks the top-level boxes of an MP4 as it streams. Only boxes that are held are buffered. */
export abstract class BoxStream extends UnitFilter {
  #type = '';
  #treatment: BoxTreatment = 'pass';
  #held: Buffer = Buffer.alloc(0);

  /** Called at each header. Must limit the size of a box that it holds. */
  protected abstract beginBox(box: BoxHeader): BoxTreatment;

  /**
   * Called at the end of a box that was held.
   * @param held the whole box, to be changed at will
   * @returns what to write instead
   */
  protected abstract endBox(type: string, held: Buffer): Buffer | null;

  /** @throws Mp4FormatError for bytes that are no box */
  protected beginUnit(bytes: Buffer, at: number): number | null {
    const header = readBoxHeader(bytes, at);
    if (header === undefined) return null;
    this.#treatment = this.beginBox(header);
    this.#type = header.type;
    this.left = header.size;
    // Copied, because a view would keep the caller's buffers in memory, and the caller may reuse them.
    if (this.#treatment === 'hold') this.#held = Buffer.allocUnsafe(header.size);
    return 0;
  }

  protected override pass(bytes: Buffer, start: number, end: number): void {
    if (this.#treatment === 'pass') this.keep(bytes, start, end);
    if (this.#treatment !== 'hold') return;
    bytes.copy(this.#held, this.#held.length - this.left - (end - start), start, end);
    if (this.left > 0) return;
    const replacement = this.endBox(this.#type, this.#held);
    this.#held = Buffer.alloc(0);
    if (replacement !== null) this.keep(replacement);
  }
}
