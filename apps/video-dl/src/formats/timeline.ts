import type { SegmentFacts, TrackLengths } from './joiner.js';
import { damaged, notJoinable } from './rejection.js';

/** A longer step back means a new clock, because no encoder reorders frames that far. */
const maxStepBackSeconds = 0.5;
/** A longer step forward also means a new clock rather than a pause. */
const maxPauseSeconds = 10;
/** Room before the first timestamp, because another track may start earlier. */
const leadSeconds = 10;
/** Shorter gaps between segments don't count as missing media. */
const minGapSeconds = 0.25;

interface Track {
  readonly start: number;
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
  /** Keyed by track. */
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
  #facts: SegmentFacts = { seconds: null, isRounded: false, isDiscontinuity: false, initialisation: null };

  /** @param hasClock the media has timestamps; without them, segments are checked against the playlist */
  constructor(hasClock = true) {
    this.#hasClock = hasClock;
  }

  /** What the playlist says about the current segment. */
  get facts(): SegmentFacts {
    return this.#facts;
  }

  /** Seconds added to the source's times. */
  get offset(): number {
    return this.#offset ?? 0;
  }

  lengths(kindOf: (track: number) => 'video' | 'audio' | 'other'): TrackLengths {
    const longest = (kind: string) => {
      const ofKind = [...this.#tracks].filter(([id]) => kindOf(id) === kind);
      const lengths = ofKind.map(([, { start, certainEnd }]) => certainEnd - start);
      return lengths.length === 0 ? null : Math.max(...lengths);
    };
    return { video: longest('video'), audio: longest('audio') };
  }

  /** The tracks that had samples in the last segment. */
  get recentTracks(): Iterable<number> {
    return this.#previous?.ends.keys() ?? [];
  }

  /** Whether a track that continues at `time` has a new clock. */
  isJump(track: number, time: number): boolean {
    const known = this.#tracks.get(track);
    if (known === undefined || this.#offset === null) return false;
    const step = time + this.#offset - known.end;
    return step < -maxStepBackSeconds || step > maxPauseSeconds;
  }

  beginSegment(facts: SegmentFacts): void {
    this.#facts = facts;
  }

  /**
   * Places the segment on the joined clock.
   * @param firsts the first time of each track in it, on the source's clock
   */
  place(firsts: ReadonlyMap<number, number>): void {
    if (this.#offset === null) {
      this.#offset = leadSeconds - Math.min(...firsts.values());
      return;
    }
    const isReset = [...firsts].some(([track, time]) => this.isJump(track, time));
    if (!this.#facts.isDiscontinuity && !isReset) return;
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
      step: 0,
      longestStep: 0,
    };
    const since = start - (track.end - track.step);
    if (duration !== null) track.step = duration;
    else if (this.#tracks.has(id) && since > 0 && since < maxPauseSeconds) track.step = since;
    if (this.#starts.has(id)) track.longestStep = Math.max(track.longestStep, track.step);
    else this.#starts.set(id, start);
    track.end = start + track.step;
    track.certainEnd = start + (duration ?? 0);
    this.#tracks.set(id, track);
  }

  /**
   * @returns its length in seconds
   * @throws Rejection when the segment has no media, or media is missing before it
   */
  endSegment(): number {
    const { seconds: stated, isRounded } = this.#facts;
    if (this.#starts.size === 0) throw damaged('a part of it is empty');
    const ends = new Map([...this.#starts.keys()].map((id) => [id, this.#tracks.get(id)?.end ?? 0]));
    const lengths = [...this.#starts].map(([id, start]) => (ends.get(id) ?? 0) - start);
    if (this.#isNewRun || !this.#hasClock) this.finish();
    else this.#assertNothingBetween(this.#previous, this.#starts);
    const seconds = Math.max(...lengths);
    this.#previous = { stated, isRounded, seconds, ends };
    this.#starts = new Map();
    this.#isNewRun = false;
    return seconds;
  }

  /**
   * @param measure reads the length; not called for anything but a whole file of stated length
   * @throws Rejection when the file is longer than stated: a period of DASH may play only a part of it
   */
  assertPlayed(measure: () => number): void {
    const { seconds: stated, initialisation, range } = this.#facts;
    if (stated === null || initialisation !== null || range !== null) return;
    if (measure() - stated > tolerance(stated)) throw notJoinable('plays only a part of one of its files');
  }

  /** @throws Rejection when the last segment is shorter than stated */
  finish(): void {
    const { stated, isRounded, seconds } = this.#previous ?? { stated: null, isRounded: false, seconds: 0 };
    // Packagers round to whole seconds or use one value for every segment, so those can't be checked.
    if (stated === null || isRounded) return;
    if (stated - seconds > tolerance(stated)) throw shortBy(stated - seconds);
  }

  /** The playlist's durations exclude gaps in the recording, but include media lost from the end of a segment. */
  #assertNothingBetween(before: Part | null, starts: ReadonlyMap<number, number>): void {
    if (before === null || before.stated === null) return;
    const gaps = [...starts].flatMap(([id, start]) => {
      const end = before.ends.get(id);
      const { longestStep } = this.#tracks.get(id) ?? { longestStep: 0 };
      return end === undefined ? [] : [{ gap: start - end, usual: 1.5 * longestStep }];
    });
    const smallest = gaps.toSorted((a, b) => a.gap - b.gap)[0];
    if (smallest === undefined) return;
    const { gap, usual } = smallest;
    if (gap <= Math.max(minGapSeconds, usual)) return;
    const missing = before.stated - before.seconds;
    if (missing > gap / 2 || missing < -tolerance(before.stated)) throw shortBy(gap);
  }
}

function tolerance(stated: number): number {
  return 0.3 + 0.05 * stated;
}

function shortBy(seconds: number) {
  return damaged(`${seconds.toFixed(1)} s of it are missing`);
}
