import { damaged, type SegmentFacts, type TrackLengths } from './joiner.js';

/** A step back further than this, in seconds, is another clock: no encoder orders its frames so. */
const longestStepBack = 0.5;
/** A step forward longer than this, in seconds, is another clock too, and not a pause. */
const longestPause = 10;
/** Room in front of the first time, in seconds: another track may begin earlier. */
const leadSeconds = 10;
/** Shorter than this, in seconds, nothing is taken for missing. */
const shortestLoss = 0.25;

interface Track {
  readonly start: number;
  /** Without samples, since the start. */
  gaps: number;
  /** Where its next sample belongs. */
  end: number;
  /** Up to where there is media for sure: a last sample may be shorter than the ones before. */
  surelyTo: number;
  /** Between its last two samples, and the longest so far. */
  step: number;
  longestStep: number;
}

interface Part {
  /** As the playlist states it; null where it does not. */
  readonly stated: number | null;
  readonly isRounded: boolean;
  /** From the first sample to the end of the last, of the longest track. */
  readonly seconds: number;
  readonly starts: ReadonlyMap<number, number>;
  readonly ends: ReadonlyMap<number, number>;
}

/**
 * The decode times of a joined stream, in seconds. Segments that begin another
 * clock (a discontinuity, a reset) are moved to where the ones before ended, all
 * their tracks by the same amount, so that sound and picture stay in step; and
 * what is missing between two segments is told from what the recording lacks.
 */
export class Timeline {
  readonly #tracks = new Map<number, Track>();
  readonly #hasClock: boolean;
  #starts = new Map<number, number>();
  #offset: number | null = null;
  #firstTime: number | null = null;
  #previous: Part | null = null;
  #isNewRun = false;

  /** @param hasClock the media has times of its own: without, each segment is measured by what the playlist says */
  constructor(hasClock = true) {
    this.#hasClock = hasClock;
  }

  /** What is added to the source's times. */
  get offset(): number {
    return this.#offset ?? 0;
  }

  /** The first time of the source; null before. */
  get firstTime(): number | null {
    return this.#firstTime;
  }

  /** @param kindOf of a track */
  lengths(kindOf: (track: number) => 'video' | 'audio' | 'other'): TrackLengths {
    const of = (kind: string) =>
      [...this.#tracks].flatMap(([id, track]) => (kindOf(id) === kind ? [track] : []));
    const longest = (kind: string) => {
      const lengths = of(kind).map(({ start, surelyTo }) => surelyTo - start);
      return lengths.length === 0 ? null : Math.max(...lengths);
    };
    const audioGaps = Math.max(0, ...of('audio').map(({ gaps }) => gaps));
    return { video: longest('video'), audio: longest('audio'), audioGaps };
  }

  /** The tracks that had samples in the last segment. */
  get recentTracks(): Iterable<number> {
    return this.#previous?.starts.keys() ?? [];
  }

  /** Whether a track that goes on at `time` has another clock than before. */
  isJump(track: number, time: number): boolean {
    const known = this.#tracks.get(track);
    if (known === undefined || this.#offset === null) return false;
    const step = time + this.#offset - known.end;
    return step < -longestStepBack || step > longestPause;
  }

  /**
   * Places a segment.
   * @param firsts the first time of each track in it, by the source's clock
   */
  begin(firsts: ReadonlyMap<number, number>, isDiscontinuity: boolean): void {
    if (this.#offset === null) {
      this.#firstTime = Math.min(...firsts.values());
      this.#offset = leadSeconds - this.#firstTime;
      return;
    }
    const isReset = [...firsts].some(([track, time]) => this.isJump(track, time));
    if (!isDiscontinuity && !isReset) return;
    const overlaps = [...firsts].flatMap(([track, time]) => {
      const known = this.#tracks.get(track);
      return known === undefined ? [] : [known.end - time - this.offset];
    });
    if (overlaps.length === 0) {
      const ends = [...this.#tracks.values()].map(({ end }) => end);
      overlaps.push(Math.max(...ends) - Math.min(...firsts.values()) - this.offset);
    }
    const overlap = Math.max(...overlaps);
    // The clock may go on although a discontinuity was announced; how long a last sample was is only an estimate.
    const steps = [...firsts.keys()].map((track) => this.#tracks.get(track)?.step ?? 0);
    const goesOn = overlap <= 0.1 + Math.max(0, ...steps) && Math.min(...overlaps) >= -longestStepBack;
    if (goesOn && !isReset) return;
    this.#offset += overlap;
    this.#isNewRun = true;
  }

  /** @param duration of the sample where it is known; else the track's last step is taken */
  add(id: number, time: number, duration: number | null = null): void {
    const start = time + this.offset;
    const track = this.#tracks.get(id) ?? {
      start,
      end: start,
      surelyTo: start,
      gaps: 0,
      step: 0,
      longestStep: 0,
    };
    const since = start - (track.end - track.step);
    if (start - track.end > shortestLoss) track.gaps += start - track.end;
    if (duration !== null) track.step = duration;
    else if (this.#tracks.has(id) && since > 0 && since < longestPause) track.step = since;
    if (this.#starts.has(id)) track.longestStep = Math.max(track.longestStep, track.step);
    else this.#starts.set(id, start);
    track.end = start + track.step;
    track.surelyTo = start + (duration ?? 0);
    this.#tracks.set(id, track);
  }

  /**
   * Ends a segment.
   * @param facts its length as the playlist has it
   * @throws TransferFault when it has no media, or something is missing in front of it
   */
  endSegment({ seconds: stated, isRounded }: Pick<SegmentFacts, 'seconds' | 'isRounded'>): void {
    if (this.#starts.size === 0) throw damaged('a part of the medium is empty');
    const ends = new Map([...this.#starts.keys()].map((id) => [id, this.#tracks.get(id)?.end ?? 0]));
    const lengths = [...this.#starts].map(([id, start]) => (ends.get(id) ?? 0) - start);
    const part = { stated, isRounded, seconds: Math.max(...lengths), starts: this.#starts, ends };
    const previous = this.#previous;
    if (previous !== null && (this.#isNewRun || !this.#hasClock)) assertAsLongAsStated(previous);
    else if (previous !== null) this.#assertNothingBetween(previous, part);
    this.#previous = part;
    this.#starts = new Map();
    this.#isNewRun = false;
  }

  /** @throws TransferFault when the last segment is shorter than the playlist has it */
  finish(): void {
    if (this.#previous !== null) assertAsLongAsStated(this.#previous);
  }

  /** A recording may have gaps of its own, which its playlist does not count; a lost end it does. */
  #assertNothingBetween(before: Part, after: Part): void {
    const gaps = [...after.starts].flatMap(([id, start]) => {
      const end = before.ends.get(id);
      const { longestStep } = this.#tracks.get(id) ?? { longestStep: 0 };
      return end === undefined ? [] : [{ gap: start - end, usual: 1.5 * longestStep }];
    });
    const smallest = gaps.toSorted((a, b) => a.gap - b.gap)[0];
    if (smallest === undefined || before.stated === null) return;
    const { gap, usual } = smallest;
    if (gap <= Math.max(shortestLoss, usual)) return;
    const missing = before.stated - before.seconds;
    if (missing > gap / 2 || missing < -tolerance(before.stated)) throw shortBy(gap);
  }
}

/** Whole seconds are what packagers round to, or put for every segment: nothing can be measured against them. */
function assertAsLongAsStated({ stated, isRounded, seconds }: Part): void {
  if (stated === null || isRounded) return;
  if (stated - seconds > tolerance(stated)) throw shortBy(stated - seconds);
}

function tolerance(stated: number): number {
  return 0.3 + 0.05 * stated;
}

function shortBy(seconds: number) {
  return damaged(`${seconds.toFixed(1)} s of the medium are missing`);
}
