import type { InputFacts } from '../ffmpeg/input-facts.js';
import { secondsIn, type Clip } from '../plan/clip.js';
import type { Expected } from '../plan/plan.js';
import type { RelayInput } from '../relay/index.js';

/** A track of what was sent. */
export interface SentTrack {
  type: 'video' | 'audio';
  endSeconds: number;
  /** Of it without content. */
  gapSeconds: number;
  /** How long its longest sample is shown, where that is known. */
  longestSeconds?: number;
}

/** What the relay knows of an input, and what ffmpeg found in it. */
export interface ExpectedInput {
  readonly input: Pick<RelayInput, 'isJoined' | 'statedSeconds' | 'lengths'> &
    Partial<Pick<RelayInput, 'offsetSeconds'>>;
  readonly facts: InputFacts | undefined;
}

/**
 * What a stream must contain: as the plan says, and as its inputs say once they are open. The
 * header of an output states it, and verification measures the output against it.
 */
export class Expectation {
  readonly inputs: readonly ExpectedInput[];
  /** Null for the whole. */
  readonly clip: Clip | null;
  readonly #pageSeconds: number | null;

  /** @param planned what the page says, for inputs that say nothing themselves */
  constructor(planned: Pick<Expected, 'seconds'> & Partial<Expected>, inputs: readonly ExpectedInput[]) {
    this.#pageSeconds = planned.seconds;
    this.clip = planned.clip ?? null;
    this.inputs = inputs;
  }

  /** The duration as the inputs state it, the longest of them; as the page does where they state none. */
  get seconds(): number | null {
    const stated = this.inputs.flatMap((input) => statedSeconds(input) ?? []);
    return stated.length === 0 ? this.#pageSeconds : secondsIn(this.clip, Math.max(...stated));
  }

  /** What the first input says of its audio and of nothing else: with video, the duration may be that of the video. */
  get audioSeconds(): number | null {
    const [expected] = this.inputs;
    // Playlists may round.
    if (expected?.facts === undefined || expected.facts.hasVideo || expected.input.isJoined) return null;
    const seconds = statedSeconds(expected);
    return seconds && secondsIn(this.clip, seconds);
  }

  /**
   * Compares every track that was sent with what was delivered or announced. Only too little
   * counts: a page or a file that announces too little cuts nothing.
   */
  shortfalls(tracks: readonly SentTrack[]): Shortfall[] {
    return this.inputs.flatMap((expectedInput, inputIndex) => {
      const { lengths } = expectedInput.input;
      const short = (track: SentTrack): boolean => {
        const required = requiredOf(track);
        return required !== undefined && isShort(track, required);
      };
      const requiredOf = ({ type }: SentTrack): RequiredLength | undefined =>
        lengths === null
          ? this.#requiredLength(expectedInput)
          : delivered(lengths[type], expectedInput.input.offsetSeconds ?? 0, this.clip);
      const sent = tracksOf(tracks, this.inputs.length, inputIndex);
      const isShorterTrack = lengths === null && sent.some((track) => !short(track));
      return sent.filter(short).map((track) => ({
        track,
        inputIndex,
        expectedSeconds: requiredOf(track)?.seconds ?? 0,
        isShorterTrack,
      }));
    });
  }

  #requiredLength(expected: ExpectedInput): RequiredLength | undefined {
    const whole = requiredLength(expected);
    if (whole !== undefined) return inClip(whole, this.clip);
    const seconds = this.#pageSeconds;
    if (seconds === null || expected.facts?.guessed) return undefined;
    return { seconds, toleranceSeconds: Math.max(2, seconds * 0.05) };
  }

  /**
   * Seconds of audio that the segments or the file had and the stream has not. What they
   * lacked themselves (a recording that has lost some) is no loss.
   */
  lostSeconds(track: SentTrack): number {
    // Audio that comes separately is the last input.
    const last = this.inputs.at(-1);
    if (track.type !== 'audio' || last === undefined) return 0;
    const { input, facts } = last;
    // Where parts of a playlist meet, a few hundredths of a second may be missing.
    const toleranceSeconds = 0.25 + track.endSeconds * 0.0005;
    // What lies before and after a clip is decoded too.
    if (this.clip !== null && !input.isJoined) return 0;
    const lost = input.isJoined
      ? track.gapSeconds - (input.lengths?.audioGaps ?? Infinity)
      : // ffmpeg drops audio whose timestamps overlap.
        (facts?.decodedSeconds ?? 0) - track.endSeconds;
    return lost > toleranceSeconds ? lost : 0;
  }
}

/** Segments in a row have no common header: the list says how long they are, if anything does. */
function statedSeconds({ input, facts }: ExpectedInput): number | null {
  return input.isJoined ? input.statedSeconds : (facts?.durationSeconds ?? null);
}

/** A track that ended before it should have. */
export interface Shortfall {
  track: SentTrack;
  inputIndex: number;
  expectedSeconds: number;
  /** The file states one length for all its tracks, and another track of it is that long. */
  isShorterTrack: boolean;
}

interface RequiredLength {
  seconds: number;
  toleranceSeconds: number;
  /** It is that of a clip. */
  isCut?: boolean;
}

/** Whether a track is as long as the stream it was made of says of itself. */
export function isAsLongAs(track: SentTrack, streamSeconds: number, clip: Clip | null = null): boolean {
  const whole = { seconds: streamSeconds, toleranceSeconds: exactToleranceSeconds };
  return !isShort(track, inClip(whole, clip));
}

/** What is shown when a clip ends may be shown for longer, so that its sample says little about its end. */
function isShort({ endSeconds, longestSeconds = 0 }: SentTrack, required: RequiredLength): boolean {
  const { seconds, toleranceSeconds, isCut = false } = required;
  return endSeconds < seconds - toleranceSeconds - (isCut ? longestSeconds : 0);
}

function requiredLength(expected: ExpectedInput): RequiredLength | undefined {
  const { facts } = expected;
  const stated = facts?.guessed ? null : statedSeconds(expected);
  if (stated === null) return undefined;
  const isExact = facts !== undefined && !expected.input.isJoined && statesExactly(facts);
  return {
    seconds: stated,
    toleranceSeconds: isExact ? exactToleranceSeconds : Math.max(exactToleranceSeconds, stated * 0.01),
  };
}

/** The relay counted what it delivered; where parts of a playlist meet, a few hundredths of a second may be missing. */
function delivered(
  seconds: number | null,
  offsetSeconds: number,
  clip: Clip | null,
): RequiredLength | undefined {
  if (seconds === null) return undefined;
  const toleranceSeconds = exactToleranceSeconds + seconds * 0.0005;
  return inClip({ seconds: offsetSeconds + seconds, toleranceSeconds }, clip);
}

/** The length that a track has in a clip. How long the track is matters only to a clip that goes up to its end. */
function inClip({ seconds, toleranceSeconds }: RequiredLength, clip: Clip | null): RequiredLength {
  if (clip === null) return { seconds, toleranceSeconds };
  const isCut = clip.endSeconds !== null && clip.endSeconds <= seconds - toleranceSeconds;
  const own = isCut ? exactToleranceSeconds : toleranceSeconds;
  return { seconds: secondsIn(clip, seconds), toleranceSeconds: own, isCut: true };
}

/** By how much a track may be shorter than a container says that states lengths exactly. */
const exactToleranceSeconds = 0.5;

/** Other containers (FLV, ASF, MPEG-PS) state a length that programs round or estimate. */
function statesExactly({ format }: InputFacts): boolean {
  return /^(?:mov|matroska|ogg|mp3|flac|wav|w64|aiff|caf|avi|mpegts)\b/u.test(format);
}

/** One input holds all tracks; of two, the first holds the video and the second the audio. */
function tracksOf(
  tracks: readonly SentTrack[],
  inputCount: number,
  inputIndex: number,
): readonly SentTrack[] {
  if (inputCount === 1) return tracks;
  return tracks.filter(({ type }) => type === (inputIndex === 0 ? 'video' : 'audio'));
}
