import { DamagedMediaError } from './structure-check.js';

/** In front of more media: what splicing leaves of a frame, and a little. */
const maxInside = 4 * 1024;
/** At the end: what old programs have written there, without saying how long it is. */
const maxAtEnd = 16 * 1024;

/** Counts the bytes in a row that belong to nothing. Zeros at the end of a file are padding, however many. */
export class StrayBytes {
  #bytes = 0;
  #zeros = 0;

  /** @throws DamagedMediaError when there are too many to be an end */
  add(count: number, areZero: boolean): void {
    this.#bytes += count;
    if (areZero) this.#zeros += count;
    if (this.#bytes - this.#zeros > maxAtEnd) throw new DamagedMediaError('a part of it is noise');
  }

  /** Media go on. @throws DamagedMediaError when there were too many in between */
  settle(): void {
    if (this.#bytes > maxInside) throw new DamagedMediaError('a part of it is noise');
    this.#bytes = 0;
    this.#zeros = 0;
  }
}
