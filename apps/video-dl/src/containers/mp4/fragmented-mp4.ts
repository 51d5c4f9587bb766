import type { Cover } from '../cover.js';
import { childBoxes, Mp4FormatError, readBoxHeader } from './box.js';
import type { BoxHeader } from './box.js';
import { FragmentClock } from './fragment-clock.js';
import type { TrackProgress } from './fragment-clock.js';
import { readMovieHeader, withCover, withMovieDuration } from './movie-header.js';

const maxHeldBytes = 4 * 1024 ** 2;

/**
 * Processes a fragmented MP4 as it streams. Writes the duration and a cover into moov, shifts the
 * positions in the closing mfra by the growth of moov, measures the fragments, and forwards
 * everything else unchanged. Only moov and mfra are buffered; fragments are never copied.
 *
 * @param movieSeconds called once, when moov arrives; null for no duration.
 */
export class FragmentedMp4 {
  readonly #movieSeconds: () => number | null;
  readonly #cover: Cover | null;
  #header = Buffer.alloc(0);
  #box: BoxHeader | undefined;
  #boxLeft = 0;
  #held: Buffer[] = [];
  #heldSize = 0;
  #clock: FragmentClock | undefined;
  #growthBytes = 0;
  #complete = true;

  constructor(movieSeconds: () => number | null, cover: Cover | null = null) {
    this.#movieSeconds = movieSeconds;
    this.#cover = cover;
  }

  /** Measured length of each track, in the order of moov; empty before moov. */
  get progress(): TrackProgress[] {
    return this.#clock?.progress ?? [];
  }

  /** Whether all boxes seen so far are complete. */
  get complete(): boolean {
    return this.#complete && this.#header.length === 0;
  }

  /**
   * Takes the next bytes of the file and returns those to send, in order.
   *
   * @throws Mp4FormatError when the bytes aren't boxes, or a box to buffer exceeds 4 MiB.
   */
  push(chunk: Buffer): Buffer[] {
    const output: Buffer[] = [];
    const bytes = this.#header.length === 0 ? chunk : Buffer.concat([this.#header, chunk]);
    this.#header = Buffer.alloc(0);
    let at = 0;
    // Unchanged bytes are forwarded together, across boxes.
    let forwardFrom = 0;
    while (at < bytes.length) {
      const box = this.#box ?? this.#begin(bytes, at);
      if (box === undefined) break;
      const end = at + Math.min(this.#boxLeft, bytes.length - at);
      if (isHeld(box.type)) {
        if (forwardFrom < at) output.push(bytes.subarray(forwardFrom, at));
        this.#hold(bytes.subarray(at, end), box);
        forwardFrom = end;
      } else if (box.type === 'moof') this.#count(box, bytes, at, end);
      this.#boxLeft -= end - at;
      at = end;
      if (this.#boxLeft === 0) this.#endBox(box, output);
    }
    if (forwardFrom < at) output.push(bytes.subarray(forwardFrom, at));
    this.#header = Buffer.from(bytes.subarray(at));
    return output;
  }

  /** @returns the box at `at`; undefined while its header is incomplete */
  #begin(bytes: Buffer, at: number): BoxHeader | undefined {
    const box = readBoxHeader(bytes, at);
    if (box === undefined) return undefined;
    this.#box = box;
    this.#boxLeft = box.size;
    this.#complete = false;
    if (box.type === 'moof') this.#clock?.begin(box.size - box.headerSize);
    return box;
  }

  /** Passes the content of a moof box to the clock, without its header. */
  #count(box: BoxHeader, bytes: Buffer, at: number, end: number): void {
    const headerLeft = Math.max(0, this.#boxLeft - (box.size - box.headerSize));
    this.#clock?.push(bytes.subarray(Math.min(end, at + headerLeft), end));
  }

  #hold(part: Buffer, box: BoxHeader): void {
    this.#heldSize += part.length;
    if (this.#heldSize > maxHeldBytes)
      throw new Mp4FormatError(`box ${box.type} exceeds ${maxHeldBytes} bytes`);
    // Copy: the caller may reuse its buffer, and a view would keep all of it in memory.
    this.#held.push(Buffer.from(part));
  }

  #endBox(box: BoxHeader, output: Buffer[]): void {
    const whole = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldSize = 0;
    this.#box = undefined;
    this.#complete = true;
    if (box.type === 'moov') output.push(this.#finishMovie(whole));
    else if (box.type === 'mfra') output.push(withMovedFragments(whole, this.#growthBytes));
    else if (box.type === 'moof') this.#clock?.end();
  }

  #finishMovie(moov: Buffer): Buffer {
    this.#clock = new FragmentClock(readMovieHeader(moov).tracks);
    const seconds = this.#movieSeconds();
    const timed = seconds === null || seconds <= 0 ? moov : withMovieDuration(moov, seconds);
    const patched = this.#cover === null ? timed : withCover(timed, this.#cover);
    this.#growthBytes = patched.length - moov.length;
    return patched;
  }
}

function isHeld(type: string): boolean {
  return type === 'moov' || type === 'mfra';
}

/**
 * The mfra box (ISO 14496-12, 8.8.9) with all fragment positions shifted by `delta`, the growth of moov.
 */
function withMovedFragments(mfra: Buffer, delta: number): Buffer {
  const moved = Buffer.from(mfra);
  for (const { type, bytes } of childBoxes(moved)) if (type === 'tfra') moveEntries(bytes, delta);
  return moved;
}

function moveEntries(tfra: Buffer, delta: number): void {
  const wide = tfra.readUInt8(8) === 1;
  const numberSizes = tfra.readUInt32BE(16);
  const numbersSize = ((numberSizes >> 4) & 3) + ((numberSizes >> 2) & 3) + (numberSizes & 3) + 3;
  const count = tfra.readUInt32BE(20);
  const entrySize = (wide ? 16 : 8) + numbersSize;
  if (24 + count * entrySize > tfra.length) throw new Mp4FormatError('tfra has fewer entries than stated');
  for (let index = 0; index < count; index += 1) {
    const offset = 24 + index * entrySize + (wide ? 8 : 4);
    if (wide) tfra.writeBigUInt64BE(tfra.readBigUInt64BE(offset) + BigInt(delta), offset);
    else tfra.writeUInt32BE(tfra.readUInt32BE(offset) + delta, offset);
  }
}
