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
}

interface Expectation {
  seconds: number;
  toleranceSeconds: number;
}

/**
 * Compares what was sent with what was delivered or announced. Only too little counts:
 * a page or a file that announces too little cuts nothing.
 *
 * @param pageSeconds what the page says, for inputs that say nothing themselves.
 */
export function findShortfall(
  tracks: readonly SentTrack[],
  inputs: readonly ExpectedInput[],
  pageSeconds: number | null,
): Shortfall | undefined {
  for (const [inputIndex, expectedInput] of inputs.entries()) {
    const sent = tracksOf(tracks, inputs.length, inputIndex);
    const { lengths } = expectedInput.input;
    const measured = lengths === null ? [longest(sent)].flatMap((track) => track ?? []) : sent;
    for (const track of measured) {
      const expected =
        lengths === null ? expectation(expectedInput, pageSeconds) : exactly(lengths[track.type]);
      if (expected !== undefined && isShort(track.endSeconds, expected))
        return { track, inputIndex, expectedSeconds: expected.seconds };
    }
  }
  return undefined;
}

/**
 * Seconds of sound that the segments had and the stream has not. What they lacked
 * themselves (a recording that has lost some) is no loss.
 */
export function lostSeconds(track: SentTrack, { input: { lengths } }: ExpectedInput): number {
  if (lengths === null || track.type !== 'audio') return 0;
  // Where parts of a playlist meet, a few hundredths of a second may be missing.
  const toleranceSeconds = 0.25 + track.endSeconds * 0.0005;
  const lost = track.gapSeconds - lengths.audioGaps;
  return lost > toleranceSeconds ? lost : 0;
}

/** Whether a track is as long as the stream it was made of says of itself. */
export function isAsLongAs(track: SentTrack, streamSeconds: number): boolean {
  return !isShort(track.endSeconds, {
    seconds: streamSeconds,
    toleranceSeconds: containerTolerance(streamSeconds),
  });
}

function isShort(actualSeconds: number, { seconds, toleranceSeconds }: Expectation): boolean {
  return actualSeconds < seconds - toleranceSeconds;
}

function expectation(expected: ExpectedInput, pageSeconds: number | null): Expectation | undefined {
  if (expected.facts?.guessed) return undefined;
  const stated = statedSeconds(expected);
  if (stated !== null) return { seconds: stated, toleranceSeconds: containerTolerance(stated) };
  if (pageSeconds === null) return undefined;
  return { seconds: pageSeconds, toleranceSeconds: Math.max(2, pageSeconds * 0.05) };
}

function exactly(seconds: number | null): Expectation | undefined {
  return seconds === null ? undefined : { seconds, toleranceSeconds: containerTolerance(seconds) };
}

/** Seconds by which a container may state more than it has. */
export function containerTolerance(seconds: number): number {
  return Math.max(0.5, seconds * 0.01);
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

function longest(tracks: readonly SentTrack[]): SentTrack | undefined {
  return tracks.toSorted((a, b) => b.endSeconds - a.endSeconds)[0];
}
