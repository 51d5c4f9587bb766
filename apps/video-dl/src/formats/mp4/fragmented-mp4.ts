import type { Chapter } from '../chapters.js';
import type { Cover } from '../cover.js';
import { childBoxes, Mp4FormatError, type BoxHeader } from './box.js';
import { BoxStream, type BoxTreatment } from './box-stream.js';
import { FragmentClock, type TrackProgress } from './fragment-clock.js';
import { withChapters, withCover, withMovieDuration, withOneEntry, withoutTracks } from './movie-changes.js';
import { readMovieHeader } from './movie-header.js';
import { type TextTrack, TextTracks } from './text-track.js';

/** Videos with few key frames have the largest fragments. */
const maxHeldBytes = 16 * 1024 ** 2;

/** What ffmpeg's moov lacks. */
interface AddedToMovie {
  readonly cover?: Cover | null;
  readonly chapters?: readonly Chapter[];
  readonly texts?: readonly TextTrack[];
}

/**
 * Processes a fragmented MP4 as it streams. Writes the duration, a cover and chapters into moov, leaves out
 * audio that the first fragment lacks, adds fragments of text, shifts the positions in the closing mfra, measures
 * the fragments, and forwards everything else unchanged. Only boxes of tables are buffered.
 *
 * ffmpeg writes moov once each track has a sample or has ended, so a track without a sample in the first
 * fragment has none at all. Many players show an error for such a track.
 *
 * @param movieSeconds called once, at the end of the first fragment's moof; null for no duration.
 */
export class FragmentedMp4 extends BoxStream {
  readonly #movieSeconds: () => number | null;
  readonly #added: AddedToMovie;
  #clock: FragmentClock | undefined;
  /** Until the first fragment shows which tracks have samples. */
  #movie: Buffer | null = null;
  #growthBytes = 0;
  #texts: TextTracks | null = null;
  /** Where the last box begins. */
  #boxAt = 0;
  #sequence = 0;
  /** How far each fragment moved, if that differs. */
  readonly #moves = new Map<number, number>();

  constructor(movieSeconds: () => number | null, added: AddedToMovie = {}) {
    super();
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

  /** @throws Mp4FormatError when a box to buffer exceeds 16 MiB */
  protected beginBox({ type, size }: BoxHeader): BoxTreatment {
    this.#boxAt = this.position;
    if (!['moov', 'moof', 'mfra'].includes(type)) return 'pass';
    if (size > maxHeldBytes) throw new Mp4FormatError(`box ${type} exceeds ${maxHeldBytes} bytes`);
    return 'hold';
  }

  protected endBox(type: string, held: Buffer): Buffer | null {
    if (type === 'moov') {
      this.#clock = new FragmentClock(readMovieHeader(held).tracks);
      this.#movie = held;
      return null;
    }
    if (type === 'mfra') return withMovedFragments(held, (at) => this.#moves.get(at) ?? this.#growthBytes);
    this.#clock?.add(held);
    const movie = this.#movie === null ? [] : [this.#finishMovie(this.#movie)];
    this.#movie = null;
    return Buffer.concat([...movie, ...this.#withText(held)]);
  }

  /** The fragment behind the text that is shown until its end. */
  #withText(moof: Buffer): Buffer[] {
    if (this.#texts === null) return [moof];
    const seconds = Math.max(...this.progress.map(({ endSeconds }) => endSeconds));
    const text = this.#texts.fragmentUntil(seconds, this.#sequence + 1);
    this.#sequence += text.length === 0 ? 1 : 2;
    // In mfhd, its first box.
    moof.writeUInt32BE(this.#sequence, 20);
    this.#growthBytes += text.length;
    this.#moves.set(this.#boxAt, this.#growthBytes);
    return [text, moof];
  }

  #finishMovie(moov: Buffer): Buffer {
    const seconds = this.#movieSeconds();
    const timed = seconds === null || seconds <= 0 ? moov : withMovieDuration(moov, seconds);
    const empty = this.progress.filter(({ handler, samples }) => handler === 'soun' && samples === 0);
    const heard = withoutTracks(withOneEntry(timed), new Set(empty.map(({ id }) => id)));
    const { cover, chapters = [], texts = [] } = this.#added;
    const covered = cover == null ? heard : withCover(heard, cover);
    const listed = chapters.length === 0 ? covered : withChapters(covered, chapters);
    const firstId = Math.max(...this.progress.map(({ id }) => id)) + 1;
    if (texts.length > 0) this.#texts = new TextTracks(texts, firstId);
    const patched = this.#texts?.inMovie(listed) ?? listed;
    this.#growthBytes = patched.length - moov.length;
    return patched;
  }
}

/**
 * The mfra box (ISO 14496-12, 8.8.9) with all fragment positions shifted.
 * @param deltaOf how far the fragment at a position moved
 */
function withMovedFragments(mfra: Buffer, deltaOf: (at: number) => number): Buffer {
  const moved = Buffer.from(mfra);
  for (const { type, bytes } of childBoxes(moved)) if (type === 'tfra') moveEntries(bytes, deltaOf);
  return moved;
}

function moveEntries(tfra: Buffer, deltaOf: (at: number) => number): void {
  const wide = tfra.readUInt8(8) === 1;
  const numberSizes = tfra.readUInt32BE(16);
  const numbersSize = ((numberSizes >> 4) & 3) + ((numberSizes >> 2) & 3) + (numberSizes & 3) + 3;
  const count = tfra.readUInt32BE(20);
  const entrySize = (wide ? 16 : 8) + numbersSize;
  if (24 + count * entrySize > tfra.length) throw new Mp4FormatError('tfra has fewer entries than stated');
  for (let index = 0; index < count; index += 1) {
    const offset = 24 + index * entrySize + (wide ? 8 : 4);
    const at = wide ? Number(tfra.readBigUInt64BE(offset)) : tfra.readUInt32BE(offset);
    if (wide) tfra.writeBigUInt64BE(BigInt(at + deltaOf(at)), offset);
    else tfra.writeUInt32BE(at + deltaOf(at), offset);
  }
}
