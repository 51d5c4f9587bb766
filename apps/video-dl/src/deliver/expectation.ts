import type { InputFacts } from '../ffmpeg/input-facts.js';
import type { TrackProgress } from '../formats/mp4/fragment-clock.js';
import { secondsIn, type Clip } from '../plan/clip.js';
import type { Expected } from '../plan/plan.js';
import type { RelayInput } from '../relay/session.js';

/** A track as it was sent, with what is known about its samples. */
export interface SentTrack
  extends
    Pick<TrackProgress, 'endSeconds' | 'gapSeconds'>,
    Partial<Pick<TrackProgress, 'startSeconds' | 'longestSeconds' | 'samples'>> {
  type: 'video' | 'audio';
}

/** What the relay knows about an input, and what ffmpeg found in it. */
export interface ExpectedInput {
  readonly input: Pick<RelayInput, 'isJoined' | 'statedSeconds' | 'lengths' | 'offsetSeconds'> &
    Partial<Pick<RelayInput, 'isWhole' | 'changes'>>;
  readonly facts: InputFacts | undefined;
}

/**
 * What a stream must contain, according to the plan and, once they are open, its inputs. The
 * output's header states it, and verification checks the output against it.
 */
export class Expectation {
  readonly inputs: readonly ExpectedInput[];
  /** Null for the whole video. */
  readonly clip: Clip | null;
  readonly #pageSeconds: number | null;
  readonly #mediaStateWrongLength: boolean;

  /** @param planned the page's values, for inputs that state none themselves */
  constructor(planned: Pick<Expected, 'seconds'> & Partial<Expected>, inputs: readonly ExpectedInput[]) {
    this.#pageSeconds = planned.seconds;
    this.clip = planned.clip ?? null;
    this.#mediaStateWrongLength = planned.mediaStateWrongLength ?? false;
    this.inputs = inputs;
  }

  /** The longest duration that an input states; otherwise the page's. */
  get seconds(): number | null {
    if (this.#mediaStateWrongLength) return this.#pageSeconds;
    const stated = this.inputs.flatMap((input) => this.#statedSeconds(input) ?? []);
    return stated.length === 0 ? this.#pageSeconds : secondsIn(this.clip, Math.max(...stated));
  }

  /** The first input's duration if it has audio only; with video, the duration may be the video's. */
  get audioSeconds(): number | null {
    const [expected] = this.inputs;
    if (this.#mediaStateWrongLength) return null;
    // Playlists may round.
    if (expected?.facts === undefined || expected.facts.hasVideo || expected.input.isJoined) return null;
    const seconds = this.#statedSeconds(expected);
    return seconds && secondsIn(this.clip, seconds);
  }

  /**
   * Compares every sent track with what was delivered or stated. Only tracks that are too short
   * count; a page or file may state too little without losing anything.
   */
  shortfalls(tracks: readonly SentTrack[]): Shortfall[] {
    return this.inputs.flatMap((expected, inputIndex) => {
      const { lengths, isWhole = false } = expected.input;
      const sent = tracksOf(tracks, this.inputs.length, inputIndex);
      const short = sent.flatMap((track) => {
        const required = this.#requiredOf(track, expected);
        return isShort(track, required) ? [{ track, inputIndex, expectedSeconds: required.seconds }] : [];
      });
      // The file states a longer duration than it has.
      if (isWhole && short.length === sent.length) return [];
      const isShorterTrack = lengths === null && short.length < sent.length;
      return short.map((shortfall) => ({ ...shortfall, isShorterTrack }));
    });
  }

  /** Joined segments have no common header, so only the playlist can state their duration. */
  #statedSeconds({ input, facts }: ExpectedInput): number | null {
    if (input.isJoined) return input.statedSeconds ?? null;
    return facts === undefined ? null : ownSeconds(facts, this.clip === null ? this.#pageSeconds : null);
  }

  /** As measured by the relay, or else as stated: exactly by some files, roughly by playlists and pages. */
  #requiredOf(track: SentTrack, expected: ExpectedInput): RequiredLength {
    const { input, facts } = expected;
    const { lengths, isJoined, offsetSeconds } = input;
    if (lengths !== null) {
      const seconds = lengths[track.type];
      if (seconds === null) return nothing;
      // A few hundredths of a second may be missing between segments.
      const toleranceSeconds = exactToleranceSeconds + seconds * 0.0005;
      return inClip({ seconds: (offsetSeconds ?? 0) + seconds, toleranceSeconds }, track, this.clip);
    }
    const isRough = facts !== undefined && !isJoined && !statesExactly(facts);
    if (this.#mediaStateWrongLength || isRough || facts?.guessed === true) return nothing;
    const stated = this.#statedSeconds(expected);
    if (stated !== null) {
      const toleranceSeconds = Math.max(exactToleranceSeconds, isJoined ? stated * 0.01 : 0);
      return inClip({ seconds: stated, toleranceSeconds }, track, this.clip);
    }
    const seconds = this.#pageSeconds;
    return seconds === null ? nothing : { seconds, toleranceSeconds: Math.max(2, seconds * 0.05) };
  }

  /**
   * Seconds of audio that the segments or the file had but the stream lacks. Gaps in the source
   * itself don't count.
   */
  lostSeconds(track: SentTrack): number {
    // Separate audio is the last input.
    const last = this.inputs.at(-1);
    if (track.type !== 'audio' || last === undefined) return 0;
    const { input, facts } = last;
    // A few hundredths of a second may be missing between segments.
    const toleranceSeconds = 0.25 + track.endSeconds * 0.0005;
    // ffmpeg also decodes media before and after a clip.
    if (this.clip !== null && !input.isJoined) return 0;
    // ffmpeg counts samples, which say nothing about time if their rate changes.
    if (!input.isJoined && input.changes?.changesAudio === true) return 0;
    const lost = input.isJoined
      ? track.gapSeconds - (input.lengths?.audioGaps ?? Infinity)
      : // ffmpeg drops audio whose timestamps overlap.
        (facts?.decodedSeconds ?? 0) - track.endSeconds;
    return lost > toleranceSeconds ? lost : 0;
  }
}

/** A container may count its duration from zero, even if its media start later. What we know about the source tells which. */
function ownSeconds(
  { durationSeconds, startSeconds, format }: InputFacts,
  known: number | null,
): number | null {
  if (durationSeconds === null || startSeconds >= durationSeconds) return durationSeconds;
  const fromStart = durationSeconds - startSeconds;
  const isCloser = known !== null && Math.abs(fromStart - known) < Math.abs(durationSeconds - known);
  return format.includes('matroska') || isCloser ? fromStart : durationSeconds;
}

/** A track that ended too early. */
export interface Shortfall {
  track: SentTrack;
  inputIndex: number;
  expectedSeconds: number;
  /** The file states one duration for all its tracks, and another track has that duration. */
  isShorterTrack: boolean;
}

interface RequiredLength {
  readonly seconds: number;
  readonly toleranceSeconds: number;
}

const nothing: RequiredLength = { seconds: 0, toleranceSeconds: Infinity };

/** Whether a track is as long as its source stream states. */
export function isAsLongAs(track: SentTrack, seconds: number, clip: Clip | null = null): boolean {
  return !isShort(track, inClip({ seconds, toleranceSeconds: exactToleranceSeconds }, track, clip));
}

function isShort({ endSeconds }: SentTrack, { seconds, toleranceSeconds }: RequiredLength): boolean {
  return endSeconds < seconds - toleranceSeconds;
}

/**
 * The required length within a clip. The track's own length matters only if the clip extends to its end. The last
 * sample may extend past the end of a clip, which may then fall short by one sample.
 */
function inClip(
  { seconds, toleranceSeconds }: RequiredLength,
  { longestSeconds = 0 }: SentTrack,
  clip: Clip | null,
): RequiredLength {
  if (clip === null) return { seconds, toleranceSeconds };
  const isCut = clip.endSeconds !== null && clip.endSeconds <= seconds - toleranceSeconds;
  const own = isCut ? exactToleranceSeconds : toleranceSeconds;
  return { seconds: secondsIn(clip, seconds), toleranceSeconds: own + longestSeconds };
}

/** How much shorter a track may be than its container states, for containers with exact durations. */
const exactToleranceSeconds = 0.5;

/** Other containers (FLV, ASF, MPEG-PS) state rounded or estimated durations. */
function statesExactly({ format }: InputFacts): boolean {
  return /^(?:mov|matroska|ogg|mp3|flac|wav|aiff|mpegts)\b/u.test(format);
}

/** A single input has all tracks. Of two, the first has the video and the second the audio. */
function tracksOf(
  tracks: readonly SentTrack[],
  inputCount: number,
  inputIndex: number,
): readonly SentTrack[] {
  if (inputCount === 1) return tracks;
  return tracks.filter(({ type }) => type === (inputIndex === 0 ? 'video' : 'audio'));
}
