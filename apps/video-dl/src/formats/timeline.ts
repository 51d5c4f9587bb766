import type { SegmentFacts, TrackLengths } from './joiner.js';
import { damaged } from './rejection.js';

/** A longer step back means a new clock, because no encoder reorders frames that far. */
const maxStepBackSeconds = 0.5;
/** A longer step forward also means a new clock rather than a pause. */
const maxPauseSeconds = 10;
/** Room before the first timestamp, because another track may start earlier. */
const leadSeconds = 10;
/** Shorter gaps don't count as missing media. */
const minGapSeconds = 0.25;

interface Track {
  readonly start: number;
  /** Total seconds without samples. */
  gaps: number;
  /** When its next sample is due. */
  end: number;
  /** Certain end of its media; the last sample may be shorter than the ones before. */
  certainEnd: number;
  /** Seconds between its last two samples, and the longest so far. */
  step: number;
  longestStep: number;
}

interface Part {
  /** Duration stated by the playlist; null if not stated. */
  readonly stated: number | null;
  readonly isRounded: boolean;
  /** From the first sample to the end of the last, for the longest track. */
  readonly seconds: number;
  readonly starts: ReadonlyMap<number, number>;
  readonly ends: ReadonlyMap<number, number>;
}

/**
 * The decode times of a joined stream, in seconds. A segment that starts a new clock
 * (a discontinuity, a reset) is moved to the end of the previous one. All its tracks move
 * by the same amount, so that audio and video stay in sync. Also distinguishes media lost
 * between two segments from gaps in the recording.
 */
export class Timeline {
  readonly #tracks = new Map<number, Track>();
  readonly #hasClock: boolean;
  #starts = new Map<number, number>();
  #offset: number | null = null;
  #previous: Part | null = null;
  #isNewRun = false;

  /** @param hasClock the media has timestamps; without them, segments are checked against the playlist */
  constructor(hasClock = true) {
    this.#hasClock = hasClock;
  }

  /** Seconds added to the source's times. */
  get offset(): number {
    return this.#offset ?? 0;
  }

  lengths(kindOf: (track: number) => 'video' | 'audio' | 'other'): TrackLengths {
    const of = (kind: string) =>
      [...this.#tracks].flatMap(([id, track]) => (kindOf(id) === kind ? [track] : []));
    const longest = (kind: string) => {
      const lengths = of(kind).map(({ start, certainEnd }) => certainEnd - start);
      return lengths.length === 0 ? null : Math.max(...lengths);
    };
    const audioGaps = Math.max(0, ...of('audio').map(({ gaps }) => gaps));
    return { video: longest('video'), audio: longest('audio'), audioGaps };
  }

  /** The tracks that had samples in the last segment. */
  get recentTracks(): Iterable<number> {
    return this.#previous?.starts.keys() ?? [];
  }

  /** Whether a track that continues at `time` has a new clock. */
  isJump(track: number, time: number): boolean {
    const known = this.#tracks.get(track);
    if (known === undefined || this.#offset === null) return false;
    const step = time + this.#offset - known.end;
    return step < -maxStepBackSeconds || step > maxPauseSeconds;
  }

  /**
   * Places a segment on the joined clock.
   * @param firsts the first time of each track in it, on the source's clock
   */
  begin(firsts: ReadonlyMap<number, number>, isDiscontinuity: boolean): void {
    if (this.#offset === null) {
      this.#offset = leadSeconds - Math.min(...firsts.values());
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
    // The clock may continue despite a discontinuity. The length of a last sample is only an estimate.
    const steps = [...firsts.keys()].map((track) => this.#tracks.get(track)?.step ?? 0);
    const isContinuous =
      overlap <= 0.1 + Math.max(0, ...steps) && Math.min(...overlaps) >= -maxStepBackSeconds;
    if (isContinuous && !isReset) return;
    this.#offset += overlap;
    this.#isNewRun = true;
  }

  /** @param duration of the sample; defaults to the track's last step */
  add(id: number, time: number, duration: number | null = null): void {
    const start = time + this.offset;
    const track = this.#tracks.get(id) ?? {
      start,
      end: start,
      certainEnd: start,
      gaps: 0,
      step: 0,
      longestStep: 0,
    };
    const since = start - (track.end - track.step);
    if (start - track.end > minGapSeconds) track.gaps += start - track.end;
    if (duration !== null) track.step = duration;
    else if (this.#tracks.has(id) && since > 0 && since < maxPauseSeconds) track.step = since;
    if (this.#starts.has(id)) track.longestStep = Math.max(track.longestStep, track.step);
    else this.#starts.set(id, start);
    track.end = start + track.step;
    track.certainEnd = start + (duration ?? 0);
    this.#tracks.set(id, track);
  }

  /**
   * Ends a segment.
   * @param facts its stated duration
   * @throws Rejection when it has no media, or media is missing before it
   */
  endSegment({ seconds: stated, isRounded }: Pick<SegmentFacts, 'seconds' | 'isRounded'>): void {
    if (this.#starts.size === 0) throw damaged('a part of it is empty');
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

  /** @throws Rejection when the last segment is shorter than stated */
  finish(): void {
    if (this.#previous !== null) assertAsLongAsStated(this.#previous);
  }

  /** The playlist's durations exclude gaps in the recording, but include media lost from the end of a segment. */
  #assertNothingBetween(before: Part, after: Part): void {
    const gaps = [...after.starts].flatMap(([id, start]) => {
      const end = before.ends.get(id);
      const { longestStep } = this.#tracks.get(id) ?? { longestStep: 0 };
      return end === undefined ? [] : [{ gap: start - end, usual: 1.5 * longestStep }];
    });
    const smallest = gaps.toSorted((a, b) => a.gap - b.gap)[0];
    if (smallest === undefined || before.stated === null) return;
    const { gap, usual } = smallest;
    if (gap <= Math.max(minGapSeconds, usual)) return;
    const missing = before.stated - before.seconds;
    if (missing > gap / 2 || missing < -tolerance(before.stated)) throw shortBy(gap);
  }
}

/** Packagers round to whole seconds or use one value for every segment, so those can't be checked. */
function assertAsLongAsStated({ stated, isRounded, seconds }: Part): void {
  if (stated === null || isRounded) return;
  if (stated - seconds > tolerance(stated)) throw shortBy(stated - seconds);
}

function tolerance(stated: number): number {
  return 0.3 + 0.05 * stated;
}

function shortBy(seconds: number) {
  return damaged(`${seconds.toFixed(1)} s of it are missing`);
}
