import type { Chapter } from '../chapters.js';
import type { Cover } from '../cover.js';
import { childBoxes, Mp4FormatError, type BoxHeader } from './box.js';
import { BoxStream, type BoxTreatment } from './box-stream.js';
import { FragmentClock, type TrackProgress } from './fragment-clock.js';
import {
  readMovieHeader,
  withChapters,
  withCover,
  withMovieDuration,
  withoutTracks,
} from './movie-header.js';

const maxHeldBytes = 4 * 1024 ** 2;

/** What ffmpeg's moov lacks. */
interface AddedToMovie {
  readonly cover?: Cover | null;
  readonly chapters?: readonly Chapter[];
}

/**
 * Processes a fragmented MP4 as it streams. Writes the duration, a cover and chapters into moov, leaves out
 * audio that the first fragment lacks, shifts the positions in the closing mfra by the growth of moov, measures
 * the fragments, and forwards everything else unchanged. Only boxes of tables are buffered.
 *
 * ffmpeg writes moov once each track has a sample or has ended, so a track without a sample in the first
 * fragment has none at all. Many players show an error for such a track.
 *
 * @param movieSeconds called once, at the end of the first fragment's moof; null for no duration.
 */
export class FragmentedMp4 {
  readonly #movieSeconds: () => number | null;
  readonly #added: AddedToMovie;
  readonly #boxes = new BoxStream({
    begin: (box) => this.#begin(box),
    read: ({ type }, part) => {
      if (type === 'moof') this.#clock?.push(part);
    },
    end: (box, held) => this.#end(box, held),
  });
  #clock: FragmentClock | undefined;
  /** Until the first fragment shows which tracks have samples. */
  #movie: Buffer | null = null;
  #growthBytes = 0;

  constructor(movieSeconds: () => number | null, added: AddedToMovie = {}) {
    this.#movieSeconds = movieSeconds;
    this.#added = added;
  }

  /** Whether a fragment has begun. */
  get hasMedia(): boolean {
    return this.#movie === null && this.progress.some(({ samples }) => samples > 0);
  }

  /** Measured length of each track, in the order of moov, also of those that are left out; empty before moov. */
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
    const isFirstFragment = type === 'moof' && this.#movie !== null;
    if (type !== 'moov' && type !== 'mfra' && !isFirstFragment) return 'pass';
    if (size > maxHeldBytes) throw new Mp4FormatError(`box ${type} exceeds ${maxHeldBytes} bytes`);
    return 'hold';
  }

  #end({ type, headerSize }: BoxHeader, held: Buffer | null): Buffer | null {
    if (type === 'moov' && held !== null) {
      this.#clock = new FragmentClock(readMovieHeader(held).tracks);
      this.#movie = held;
      return null;
    }
    if (type === 'moof') {
      if (held !== null) this.#clock?.push(held.subarray(headerSize));
      this.#clock?.end();
    }
    if (held === null) return null;
    if (type === 'mfra') return withMovedFragments(held, this.#growthBytes);
    const movie = this.#movie;
    this.#movie = null;
    return movie === null ? held : Buffer.concat([this.#finishMovie(movie), held]);
  }

  #finishMovie(moov: Buffer): Buffer {
    const seconds = this.#movieSeconds();
    const timed = seconds === null || seconds <= 0 ? moov : withMovieDuration(moov, seconds);
    const empty = this.progress.filter(({ handler, samples }) => handler === 'soun' && samples === 0);
    const heard = withoutTracks(timed, new Set(empty.map(({ id }) => id)));
    const { cover, chapters = [] } = this.#added;
    const covered = cover == null ? heard : withCover(heard, cover);
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
