import { DomainError } from '@media-services/http-common';
import type { InputFactsReader } from '../ffmpeg/input-facts.js';
import type { ChildExit, ChildGroup } from '@media-services/processes';
import { probe, ProbeError } from '../ffmpeg/probe.js';
import { needsTooMuchMemory } from '../ffmpeg/process.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { secondsIn, type Clip } from '../plan/clip.js';
import type { Plan } from '../plan/plan.js';
import type { MediaRelay, RelaySession, RenewSource } from '../relay/index.js';
import { isAsLongAs, type Expectation, type Shortfall } from './expectation.js';
import type { OutputRun } from './output.js';

const secondOpinionMs = 15_000;

interface FinishedStream {
  readonly plan: Pick<Plan, 'inputs'>;
  readonly signal: AbortSignal;
  readonly session: Pick<RelaySession, 'failure' | 'allReceived'>;
  readonly relay: Pick<MediaRelay, 'open'>;
  readonly renew: RenewSource;
  readonly client: string;
  readonly tools: MediaTools;
  readonly child: Pick<ChildGroup, 'exited' | 'stderr' | 'hasExceededMemory'>;
  readonly output: Pick<OutputRun, 'hasMedia' | 'isWhole' | 'tracks'>;
  readonly expected: Expectation;
  readonly facts: Pick<InputFactsReader, 'hasNoise' | 'decodeErrors'>;
}

/**
 * Returns only if the stream is whole. ffmpeg's exit code is no proof: with half
 * of a file, or a playlist with a segment missing, it ends with 0.
 *
 * @throws DomainError what is missing.
 */
export async function assertComplete(stream: FinishedStream): Promise<void> {
  const { signal, session, child, output, expected } = stream;
  const exit = await child.exited;
  signal.throwIfAborted();
  if (session.failure !== undefined) throw session.failure;
  if (exit.code !== 0) throw ffmpegFailure(exit, child);
  if (!output.hasMedia) throw unreadable();
  if (!output.isWhole) throw incomplete('the output ends in the middle of a frame');
  // ffmpeg stops reading as soon as it has what a clip needs.
  if (expected.clip === null && !session.allReceived()) throw incomplete('not all of its bytes arrived');
  assertNothingLost(stream);
  const shortfalls = expected.shortfalls(output.tracks);
  for (const inputIndex of new Set(shortfalls.map((shortfall) => shortfall.inputIndex))) {
    const own = await ownDurations(stream, inputIndex);
    const ofInput = shortfalls.filter((shortfall) => shortfall.inputIndex === inputIndex);
    for (const shortfall of ofInput) assertEndsEarlyAtTheSource(shortfall, own, expected.clip);
  }
}

/**
 * A decoder that can't read one frame often can't read the next either, and every player
 * goes over that. More of them are audible.
 */
const maxDecodeErrors = 3;

function assertNothingLost({ output, expected, facts }: FinishedStream): void {
  if (facts.hasNoise) throw incomplete('a part of it is noise');
  // Segments leave parts of frames at their edges; what they delivered is counted instead.
  const isFile = expected.inputs.some(({ input }) => !input.isJoined);
  if (isFile && facts.decodeErrors > maxDecodeErrors)
    throw incomplete(`${facts.decodeErrors} parts of it cannot be decoded`);
  for (const track of output.tracks) {
    const lost = expected.lostSeconds(track);
    if (lost > 0) throw incomplete(`${lost.toFixed(1)} s of its ${track.type} are missing in between`);
  }
}

type TrackDurations = Readonly<Record<'video' | 'audio', number | null>>;
const unknownDurations: TrackDurations = { video: null, audio: null };

/**
 * A file may hold audio that is shorter than its video, and states the length of the
 * longer. So before a stream is called cut, we look up each track's own length.
 */
async function ownDurations(stream: FinishedStream, inputIndex: number): Promise<TrackDurations> {
  const { relay, renew, client, tools, plan, signal } = stream;
  const source = plan.inputs[inputIndex];
  if (source?.kind !== 'file') return unknownDurations;
  const session = relay.open({ signal, renew, exit: source.origin?.exit, client });
  try {
    const [input] = await session.add(source);
    if (input === undefined) return unknownDurations;
    const { environment, parse } = session;
    const { streams } = await probe(tools, input.url, {
      ...{ signal, parse },
      maxMs: secondOpinionMs,
      environment,
    });
    const of = (wanted: 'video' | 'audio') =>
      streams.find(({ type, isCover }) => type === wanted && !isCover)?.durationSeconds ?? null;
    return { video: of('video'), audio: of('audio') };
  } catch (error) {
    if (error instanceof ProbeError) return unknownDurations;
    throw error;
  } finally {
    session.close();
  }
}

/** Where the file doesn't state the track's own length, another track that is whole speaks for it. */
function assertEndsEarlyAtTheSource(shortfall: Shortfall, own: TrackDurations, clip: Clip | null): void {
  const { track, expectedSeconds, isShorterTrack } = shortfall;
  const ownSeconds = own[track.type];
  if (ownSeconds === null ? isShorterTrack : isAsLongAs(track, ownSeconds, clip)) return;
  const expected = ownSeconds === null ? expectedSeconds : secondsIn(clip, ownSeconds);
  throw incomplete(`its ${track.type} ends at ${track.endSeconds.toFixed(1)} s of ${expected.toFixed(1)} s`);
}

function incomplete(what: string): DomainError {
  return new DomainError(
    'upstream_error',
    `The media of the site is not complete: ${what}. Try again later.`,
  );
}

const missingPart = /unknown encoder|encoder not found|unrecognized option|option not found|no such filter/iu;

/** Why ffmpeg ended without success, for the client; what it wrote is in `cause`, for the log. */
function ffmpegFailure(exit: ChildExit, { stderr, hasExceededMemory }: FinishedStream['child']): DomainError {
  const wrote = stderr.toString();
  const cause = new Error(`ffmpeg ended with ${exit.code ?? exit.signal ?? 'no exit code'}: ${wrote}`);
  if (hasExceededMemory) return needsTooMuchMemory(cause);
  if (exit.signal !== null) {
    return new DomainError('engine_unavailable', 'ffmpeg was stopped from outside. Try again.', {
      cause,
      retryAfterSeconds: 5,
    });
  }
  if (missingPart.test(wrote)) {
    return new DomainError('internal_error', 'The installed ffmpeg lacks a part that this stream needs.', {
      cause,
    });
  }
  return unreadable(cause);
}

/** All of it arrived, so that trying again changes nothing. */
function unreadable(cause?: unknown): DomainError {
  return new DomainError(
    'no_media',
    "The site's media are damaged, or in a format that this service can't read. Check that they play in a browser.",
    { cause },
  );
}
