import type { Chapter } from '../chapters.js';
import type { Cover } from '../cover.js';
import { childBoxes, Mp4FormatError, type BoxHeader } from './box.js';
import { BoxStream, type BoxTreatment } from './box-stream.js';
import { FragmentClock, type TrackProgress } from './fragment-clock.js';
import { readMovieHeader, withChapters, withCover, withMovieDuration } from './movie-header.js';

const maxHeldBytes = 4 * 1024 ** 2;

/** What ffmpeg's moov lacks. */
interface AddedToMovie {
  readonly cover?: Cover | null;
  readonly chapters?: readonly Chapter[];
}

/**
 * Processes a fragmented MP4 as it streams. Writes the duration, a cover and chapters into moov, shifts the
 * positions in the closing mfra by the growth of moov, measures the fragments, and forwards
 * everything else unchanged. Only moov and mfra are buffered; fragments are never copied.
 *
 * @param movieSeconds called once, when moov arrives; null for no duration.
 */
export class FragmentedMp4 {
  readonly #movieSeconds: () => number | null;
  readonly #added: AddedToMovie;
  readonly #boxes = new BoxStream({
    begin: (box) => this.#begin(box),
    read: ({ type }, part) => {
      if (type === 'moof') this.#clock?.push(part);
    },
    end: ({ type }, held) => this.#end(type, held),
  });
  #clock: FragmentClock | undefined;
  #growthBytes = 0;

  constructor(movieSeconds: () => number | null, added: AddedToMovie = {}) {
    this.#movieSeconds = movieSeconds;
    this.#added = added;
  }

  /** Measured length of each track, in the order of moov; empty before moov. */
  get progress(): TrackProgress[] {
    return this.#clock?.progress ?? [];
  }

  /** Whether all boxes seen so far are complete. */
  get complete(): boolean {
    return this.#boxes.isBetweenBoxes;
  }

  /**
   * Takes the next bytes of the file and returns those to send, in order.
   *
   * @throws Mp4FormatError when the bytes aren't boxes, or a box to buffer exceeds 4 MiB.
   */
  push(chunk: Buffer): Buffer[] {
    return this.#boxes.push(chunk);
  }

  #begin({ type, size, headerSize }: BoxHeader): BoxTreatment {
    if (type === 'moof') this.#clock?.begin(size - headerSize);
    if (type !== 'moov' && type !== 'mfra') return 'pass';
    if (size > maxHeldBytes) throw new Mp4FormatError(`box ${type} exceeds ${maxHeldBytes} bytes`);
    return 'hold';
  }

  #end(type: string, held: Buffer | null): Buffer | null {
    if (type === 'moof') this.#clock?.end();
    if (held === null) return null;
    return type === 'moov' ? this.#finishMovie(held) : withMovedFragments(held, this.#growthBytes);
  }

  #finishMovie(moov: Buffer): Buffer {
    this.#clock = new FragmentClock(readMovieHeader(moov).tracks);
    const seconds = this.#movieSeconds();
    const timed = seconds === null || seconds <= 0 ? moov : withMovieDuration(moov, seconds);
    const { cover, chapters = [] } = this.#added;
    const covered = cover == null ? timed : withCover(timed, cover);
    const patched = chapters.length === 0 ? covered : withChapters(covered, chapters);
    this.#growthBytes = patched.length - moov.length;
    return patched;
  }
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
