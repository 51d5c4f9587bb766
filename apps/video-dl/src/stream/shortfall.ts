import type { InputFacts } from '../ffmpeg/input-facts.js';
import type { RelayInput } from '../relay/index.js';
import type { SentTrack } from './output.js';

/** What the relay knows of an input, and what ffmpeg found in it. */
export interface ExpectedInput {
  readonly input: Pick<RelayInput, 'isJoined' | 'statedSeconds' | 'lengths'>;
  readonly facts: InputFacts | undefined;
}

/** What the inputs say of their length, the longest of them; what the page says where they say nothing. */
export function announcedSeconds(
  inputs: readonly ExpectedInput[],
  pageSeconds: number | null,
): number | null {
  const stated = inputs.flatMap((input) => statedSeconds(input) ?? []);
  return stated.length === 0 ? pageSeconds : Math.max(...stated);
}

/** What the first input says of its sound, and of nothing else: with pictures, the length may be theirs. */
export function announcedSoundSeconds([expected]: readonly ExpectedInput[]): number | null {
  // Playlists may round.
  if (expected?.facts === undefined || expected.facts.hasVideo || expected.input.isJoined) return null;
  return statedSeconds(expected);
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

interface Expectation {
  seconds: number;
  toleranceSeconds: number;
}

/**
 * Compares every track that was sent with what was delivered or announced. Only too little
 * counts: a page or a file that announces too little cuts nothing.
 *
 * @param pageSeconds what the page says, for inputs that say nothing themselves.
 */
export function findShortfalls(
  tracks: readonly SentTrack[],
  inputs: readonly ExpectedInput[],
  pageSeconds: number | null,
): Shortfall[] {
  return inputs.flatMap((expectedInput, inputIndex) => {
    const { lengths } = expectedInput.input;
    const short = (track: SentTrack): boolean => {
      const expected = expectationOf(track);
      return expected !== undefined && isShort(track.endSeconds, expected);
    };
    const expectationOf = ({ type }: SentTrack): Expectation | undefined =>
      lengths === null ? expectation(expectedInput, pageSeconds) : delivered(lengths[type]);
    const sent = tracksOf(tracks, inputs.length, inputIndex);
    const isShorterTrack = lengths === null && sent.some((track) => !short(track));
    return sent.filter(short).map((track) => ({
      track,
      inputIndex,
      expectedSeconds: expectationOf(track)?.seconds ?? 0,
      isShorterTrack,
    }));
  });
}

/**
 * Seconds of audio that the segments or the file had and the stream has not. What they
 * lacked themselves (a recording that has lost some) is no loss.
 */
export function lostSeconds(track: SentTrack, { input, facts }: ExpectedInput): number {
  if (track.type !== 'audio') return 0;
  // Where parts of a playlist meet, a few hundredths of a second may be missing.
  const toleranceSeconds = 0.25 + track.endSeconds * 0.0005;
  const lost = input.isJoined
    ? track.gapSeconds - (input.lengths?.audioGaps ?? Infinity)
    : // ffmpeg drops audio whose timestamps overlap.
      (facts?.decodedSeconds ?? 0) - track.endSeconds;
  return lost > toleranceSeconds ? lost : 0;
}

/** Whether a track is as long as the stream it was made of says of itself. */
export function isAsLongAs(track: SentTrack, streamSeconds: number): boolean {
  return !isShort(track.endSeconds, { seconds: streamSeconds, toleranceSeconds: exactToleranceSeconds });
}

function isShort(actualSeconds: number, { seconds, toleranceSeconds }: Expectation): boolean {
  return actualSeconds < seconds - toleranceSeconds;
}

function expectation(expected: ExpectedInput, pageSeconds: number | null): Expectation | undefined {
  const { facts } = expected;
  if (facts?.guessed) return undefined;
  const stated = statedSeconds(expected);
  if (stated !== null) {
    const isExact = facts !== undefined && !expected.input.isJoined && statesExactly(facts);
    return {
      seconds: stated,
      toleranceSeconds: isExact ? exactToleranceSeconds : Math.max(exactToleranceSeconds, stated * 0.01),
    };
  }
  if (pageSeconds === null) return undefined;
  return { seconds: pageSeconds, toleranceSeconds: Math.max(2, pageSeconds * 0.05) };
}

/** The relay counted what it delivered; where parts of a playlist meet, a few hundredths of a second may be missing. */
function delivered(seconds: number | null): Expectation | undefined {
  return seconds === null
    ? undefined
    : { seconds, toleranceSeconds: exactToleranceSeconds + seconds * 0.0005 };
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
