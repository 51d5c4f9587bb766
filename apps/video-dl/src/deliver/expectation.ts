import type { InputFacts } from '../ffmpeg/input-facts.js';
import type { TrackProgress } from '../formats/mp4/fragment-clock.js';
import { secondsIn, type Clip } from '../plan/clip.js';
import type { OpenedInput } from '../plan/conversion.js';
import type { Expected } from '../plan/plan.js';
import type { RelayInput } from '../relay/session.js';

/** A track as it was sent, with what is known about its samples. */
export interface SentTrack
  extends
    Pick<TrackProgress, 'endSeconds'>,
    Partial<Pick<TrackProgress, 'startSeconds' | 'longestSeconds' | 'samples'>> {
  type: 'video' | 'audio';
}

/** What the relay knows about an input, and what ffmpeg found in it. */
export interface ExpectedInput {
  readonly input: Pick<RelayInput, 'isJoined' | 'statedSeconds' | 'lengths' | 'offsetSeconds'> &
    Partial<Pick<RelayInput & OpenedInput, 'isWhole' | 'audioSeconds' | 'changes'>>;
  readonly facts: InputFacts | undefined;
}

/** A track that ended too early. */
export interface Shortfall {
  readonly track: SentTrack;
  readonly expectedSeconds: number;
}

/** How much shorter a track may be than its container states, for containers with exact durations. */
const exactToleranceSeconds = 0.5;

/**
 * What a stream must contain, according to the plan and, once they are open, its inputs. The
 * output's header states it, and verification checks the output against it.
 */
export class Expectation {
  readonly inputs: readonly ExpectedInput[];
  /** Null for the whole video. */
  readonly clip: Clip | null;
  readonly #planned: Pick<Expected, 'seconds'> & Partial<Expected>;

  /** @param planned the page's values, for inputs that state none themselves */
  constructor(planned: Pick<Expected, 'seconds'> & Partial<Expected>, inputs: readonly ExpectedInput[]) {
    this.#planned = planned;
    this.clip = planned.clip ?? null;
    this.inputs = inputs;
  }

  /** The longest duration that an input states; otherwise the page's. */
  get seconds(): number | null {
    const { seconds, mediaStateWrongLength } = this.#planned;
    if (mediaStateWrongLength === true) return seconds;
    const stated = this.inputs.flatMap((input) => this.#statedSeconds(input) ?? []);
    return stated.length === 0 ? seconds : secondsIn(this.clip, Math.max(...stated));
  }

  /** The first input's duration if it has audio only; with video, the duration may be the video's. */
  get audioSeconds(): number | null {
    const [expected] = this.inputs;
    if (this.#planned.mediaStateWrongLength === true) return null;
    // Playlists may round.
    if (expected?.facts === undefined || expected.facts.hasVideo || expected.input.isJoined) return null;
    const seconds = this.#statedSeconds(expected);
    return seconds && secondsIn(this.clip, seconds);
  }

  /**
   * The tracks that are shorter than in their inputs, where those know their lengths exactly. A file states one length
   * for all its tracks, so only its longest one must have that length.
   */
  shortfalls(tracks: readonly SentTrack[]): Shortfall[] {
    return this.inputs.flatMap((expected, inputIndex) => {
      const sent = tracksOf(tracks, this.inputs.length, inputIndex);
      const isAudioAlone = sent.every(({ type }) => type === 'audio');
      const short = sent
        .map((track) => {
          const endSeconds = this.#requiredEnd(track, expected, isAudioAlone);
          return { track, expectedSeconds: secondsIn(this.clip, endSeconds) };
        })
        .filter((shortfall) => this.#isShort(shortfall, expected));
      return expected.input.isJoined || short.length === sent.length ? short : [];
    });
  }

  /** Joined segments have no common header, so only the playlist can state their duration. */
  #statedSeconds({ input, facts }: ExpectedInput): number | null {
    if (input.isJoined) return input.statedSeconds ?? null;
    return facts === undefined ? null : ownSeconds(facts, this.clip === null ? this.#planned.seconds : null);
  }

  /** Where a track must end on its source's clock; 0 if that isn't known exactly. */
  #requiredEnd({ type }: SentTrack, expected: ExpectedInput, isAudioAlone: boolean): number {
    const { input, facts } = expected;
    const { lengths, offsetSeconds } = input;
    if (lengths !== null) return (offsetSeconds ?? 0) + (lengths[type] ?? 0);
    // For a clip, ffmpeg may have read more of the file than it output.
    if (input.isWhole === true && (input.isJoined || this.clip === null)) return 0;
    // ffmpeg leaves segments unread only when it has all of a clip.
    if (input.isJoined) return Infinity;
    const { mediaStateWrongLength, audioSeconds } = this.#planned;
    if (facts === undefined || !statesExactly(facts) || mediaStateWrongLength === true) return 0;
    const stated = this.#statedSeconds(expected) ?? 0;
    // The stated length may be that of the video.
    if (!isAudioAlone || !facts.hasVideo) return stated;
    return this.clip === null ? (audioSeconds ?? 0) : (input.audioSeconds ?? stated);
  }

  #isShort({ track, expectedSeconds }: Shortfall, { input }: ExpectedInput): boolean {
    const { endSeconds, longestSeconds = 0 } = track;
    // A few hundredths of a second may be missing between segments.
    const betweenSeconds = input.lengths === null ? 0 : expectedSeconds * 0.0005;
    // The last sample may extend past the end of a clip, which may then fall short by one sample.
    const lastSeconds = this.clip === null ? 0 : longestSeconds;
    return endSeconds < expectedSeconds - exactToleranceSeconds - betweenSeconds - lastSeconds;
  }

  /**
   * Seconds of audio that a file has but the stream lacks, because ffmpeg drops audio whose timestamps overlap. Joined
   * segments may overlap at their edges.
   */
  lostSeconds({ type, endSeconds }: SentTrack): number {
    // Separate audio is the last input.
    const { input, facts } = this.inputs.at(-1) ?? {};
    // ffmpeg also decodes media before and after a clip.
    if (type !== 'audio' || this.clip !== null || input?.isJoined !== false) return 0;
    // ffmpeg counts samples, which say nothing about time if their rate changes.
    if (input.changes?.changesAudio === true) return 0;
    const lost = (facts?.decodedSeconds ?? 0) - endSeconds;
    return lost > 0.25 + endSeconds * 0.0005 ? lost : 0;
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
