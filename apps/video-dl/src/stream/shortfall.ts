import type { InputFacts } from '../ffmpeg/input-facts.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { SentTrack } from './output.js';

/** How an input is delivered, and what ffmpeg found in it. */
export interface ExpectedInput {
  kind: MediaSource['kind'];
  facts: InputFacts | undefined;
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
export function announcedSoundSeconds([input]: readonly ExpectedInput[]): number | null {
  // Playlists may round.
  if (input?.facts === undefined || input.facts.hasVideo || input.kind === 'hls') return null;
  return statedSeconds(input);
}

/** Fragments in a row have no common header: ffmpeg takes the first fragment of an MP4 for the whole. */
function statedSeconds({ kind, facts }: ExpectedInput): number | null {
  const isFirstFragment = (kind === 'dash' || kind === 'fragments') && facts?.format.includes('mp4');
  return isFirstFragment ? null : (facts?.durationSeconds ?? null);
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
 * Compares what was sent with what the inputs announced. Only too little counts:
 * a page or a playlist that announces too little cuts nothing.
 *
 * @param pageSeconds what the page says, for inputs that say nothing themselves.
 */
export function findShortfall(
  tracks: readonly SentTrack[],
  inputs: readonly ExpectedInput[],
  pageSeconds: number | null,
): Shortfall | undefined {
  for (const [inputIndex, input] of inputs.entries()) {
    const expected = expectation(input, pageSeconds);
    const track = longest(tracksOf(tracks, inputs.length, inputIndex));
    if (expected === undefined || track === undefined) continue;
    if (isShort(track.endSeconds, expected)) return { track, inputIndex, expectedSeconds: expected.seconds };
  }
  return undefined;
}

/**
 * Seconds of a playlist's segments that came without content: all bytes arrived,
 * but some were noise, or less than a whole segment. Gaps that the playlist does
 * not count in its length (a recording that has lost segments itself) are no loss.
 *
 * @param timelineSeconds where the output ends in time; an MP3 itself only tells how much there is.
 */
export function lostSeconds(track: SentTrack, input: ExpectedInput, timelineSeconds: number | null): number {
  const stated = statedSeconds(input);
  if (input.kind !== 'hls' || stated === null) return 0;
  const end = Math.max(track.endSeconds, timelineSeconds ?? 0);
  const gap = track.gapSeconds + (end - track.endSeconds);
  // Where parts of a playlist meet, a few hundredths of a second may be missing.
  const toleranceSeconds = 0.25 + end * 0.0005;
  const lost = gap - Math.max(0, end - stated);
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

function expectation(input: ExpectedInput, pageSeconds: number | null): Expectation | undefined {
  const { kind, facts } = input;
  if (facts?.guessed) return undefined;
  const stated = statedSeconds(input);
  if (stated !== null) {
    // Playlists may round each segment to whole seconds; that every segment came whole is the relay's to know.
    const toleranceSeconds = kind === 'hls' ? Math.max(2, stated * 0.1) : containerTolerance(stated);
    return { seconds: stated, toleranceSeconds };
  }
  if (pageSeconds === null) return undefined;
  return { seconds: pageSeconds, toleranceSeconds: Math.max(2, pageSeconds * 0.05) };
}

function containerTolerance(seconds: number): number {
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
