import { DomainError } from '@media-services/http-common';
import type { InputFactsReader } from '../ffmpeg/input-facts.js';
import type { ChildExit, ChildGroup } from '@media-services/processes';
import { needsTooMuchMemory } from '../ffmpeg/process.js';
import type { Plan } from '../plan/plan.js';
import { noAudio } from '../plan/rejections.js';
import type { RelaySession } from '../relay/session.js';
import type { Expectation, SentTrack } from './expectation.js';
import type { OutputRun } from './output.js';

interface FinishedStream {
  readonly plan: Pick<Plan, 'video'>;
  readonly signal: AbortSignal;
  readonly session: Pick<RelaySession, 'failure' | 'allReceived'>;
  readonly child: Pick<ChildGroup, 'exited' | 'stderr' | 'hasExceededMemory'>;
  readonly output: Pick<OutputRun, 'hasMedia' | 'isWhole' | 'tracks'>;
  readonly expected: Expectation;
  readonly facts: Pick<InputFactsReader, 'hasInvalidData' | 'decodeErrors' | 'audioPackets' | 'isSpatial'>;
}

/**
 * Returns only if the stream is complete. ffmpeg's exit code is no proof: it exits with 0
 * after half a file or a playlist with a missing segment.
 *
 * @throws DomainError that says what is missing.
 */
export async function assertComplete(stream: FinishedStream): Promise<void> {
  const { signal, session, child, output, expected } = stream;
  const exit = await child.exited;
  signal.throwIfAborted();
  if (session.failure !== undefined) throw session.failure;
  if (!output.hasMedia && hasNoAudio(stream)) throw noAudio();
  if (exit.code !== 0) throw ffmpegFailure(exit, stream);
  if (!output.hasMedia) throw expected.clip === null ? unreadable() : emptyPart();
  assertNoEmptyTrack(output, expected);
  assertAudioIsAbsent(stream);
  if (!output.isWhole) throw incomplete('the output ends in the middle of a frame');
  // ffmpeg stops reading as soon as it has what a clip needs.
  if (expected.clip === null && !session.allReceived()) throw incomplete('some of its bytes are missing');
  assertNothingLost(stream);
  const [shortfall] = expected.shortfalls(output.tracks.filter(({ samples }) => samples !== 0));
  if (shortfall === undefined) return;
  const { track, expectedSeconds } = shortfall;
  const times = `${track.endSeconds.toFixed(1)} s of ${expectedSeconds.toFixed(1)} s`;
  throw incomplete(`its ${track.type} ends at ${times}`);
}

/** Whether what states audio has none of it. */
function hasNoAudio({ plan, session, expected, facts }: FinishedStream): boolean {
  const isRead = session.allReceived() && !facts.hasInvalidData && facts.decodeErrors === 0;
  const { changes } = expected.inputs.at(-1)?.input ?? {};
  return plan.video === null && isRead && (facts.audioPackets === 0 || changes?.hasAudio === false);
}

/**
 * One damaged frame often makes the next ones undecodable too, and every player skips them.
 * Long recordings of broadcasts have one now and then.
 */
function maxDecodeErrors(seconds: number): number {
  return 3 + Math.floor(seconds / 60);
}

function assertNothingLost({ output, expected, facts }: FinishedStream): void {
  if (facts.hasInvalidData) throw incomplete('it contains invalid data');
  // Segments may start or end in the middle of a frame, so we check their delivered length instead.
  const isFile = expected.inputs.some(({ input }) => !input.isJoined);
  const seconds = Math.max(0, ...output.tracks.map(({ endSeconds }) => endSeconds));
  if (isFile && facts.decodeErrors > maxDecodeErrors(seconds))
    throw incomplete(`${facts.decodeErrors} parts of it can't be decoded`);
  for (const track of output.tracks) {
    const lost = expected.lostSeconds(track);
    if (lost > 0) throw incomplete(`${lost.toFixed(1)} s in the middle of its audio are missing`);
  }
}

function incomplete(what: string): DomainError {
  return new DomainError('upstream_error', `The site's media is incomplete: ${what}. Try again later.`);
}

const missingPart = /unknown encoder|encoder not found|unrecognized option|option not found|no such filter/iu;

/** How ffmpeg ends when media break it. Another attempt ends the same way. */
const crashes = new Set<string>(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP']);

/** The client's error for a failed ffmpeg. `cause` has its output, for the log. */
function ffmpegFailure(exit: ChildExit, { child, facts }: FinishedStream): DomainError {
  const { stderr, hasExceededMemory } = child;
  const wrote = stderr.toString();
  const cause = new Error(`ffmpeg ended with ${exit.code ?? exit.signal ?? 'no exit code'}: ${wrote}`);
  if (hasExceededMemory) return needsTooMuchMemory(cause);
  if (exit.signal !== null && !crashes.has(exit.signal)) {
    return new DomainError('engine_unavailable', 'ffmpeg was killed. Try again.', {
      cause,
      retryAfterSeconds: 5,
    });
  }
  if (missingPart.test(wrote)) {
    return new DomainError(
      'internal_error',
      "The server's ffmpeg lacks a feature that this stream needs. If you run this server: install a full build of ffmpeg.",
      {
        cause,
      },
    );
  }
  if (facts.isSpatial) {
    const detail =
      "The audio is spatial (ambisonic), which can't be converted to stereo. Request it as it is with `fmt=original`.";
    return new DomainError('no_media', detail, { cause });
  }
  return unreadable(cause);
}

/**
 * Many players show an error for a track without samples. Audio may be stated and never come: then it is left out.
 * @throws DomainError `no_media`
 */
export function assertNoEmptyTrack({ tracks }: Pick<OutputRun, 'tracks'>, expected: Expectation): void {
  const empty = tracks.find((track) => track.samples === 0 && !mayBeAbsent(track, expected));
  if (empty === undefined) return;
  const { type } = empty;
  const remedy =
    type === 'video' ? 'Request an MP3 from `/api/stream`.' : 'Check that it plays in a browser.';
  throw new DomainError(
    'no_media',
    expected.clip === null
      ? `The site's ${type} is empty. ${remedy}`
      : `This part of the video has no ${type}. Choose another \`start\` or \`end\`.`,
  );
}

/** Whether segments have shown that they have no audio, or a file with video may have none. */
function mayBeAbsent(track: SentTrack, expected: Expectation): boolean {
  const [input, second] = expected.inputs;
  if (track.type !== 'audio' || input === undefined) return false;
  if ((second ?? input).input.isJoined) return expected.shortfalls([track]).length === 0;
  return second === undefined && expected.clip === null;
}

/** @throws DomainError if ffmpeg has read audio, and none of it is in the output */
function assertAudioIsAbsent({ output, expected, facts }: FinishedStream): void {
  const isEmpty = output.tracks.some(({ type, samples }) => type === 'audio' && samples === 0);
  const wasRead = expected.clip === null && (facts.audioPackets ?? 1) > 0;
  if (isEmpty && wasRead) throw incomplete('its audio is missing');
}

/** The page may state more than its media have. */
function emptyPart(): DomainError {
  const detail = 'The video ends before this part. Choose an earlier `start`.';
  return new DomainError('no_media', detail);
}

/** Everything arrived, so a retry doesn't help. */
function unreadable(cause?: unknown): DomainError {
  return new DomainError(
    'no_media',
    "The site's media are damaged, or in a format that this service can't read. Check that they play in a browser.",
    { cause },
  );
}
