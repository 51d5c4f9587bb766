import { DomainError } from '@media-services/http-common';
import type { InputFactsReader } from '../ffmpeg/input-facts.js';
import type { MediaProcess } from '../ffmpeg/process.js';
import { probe } from '../ffmpeg/probe.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { Plan } from '../plan/index.js';
import type { RelaySession, RenewSource } from '../relay/index.js';
import { ffmpegFailure } from './ffmpeg-failure.js';
import type { MediaOutput } from './media-output.js';
import { findShortfall, isAsLongAs, lostSeconds, type ExpectedInput, type Shortfall } from './shortfall.js';
import type { StreamAbort } from './stream-abort.js';
import type { StreamRelay } from './stream-relay.js';

const secondOpinionMs = 15_000;

interface FinishedStream {
  readonly plan: Plan;
  readonly abort: StreamAbort;
  readonly session: RelaySession;
  readonly relay: StreamRelay;
  readonly renew: RenewSource;
  readonly tools: MediaTools;
  readonly child: MediaProcess;
  readonly output: MediaOutput;
  readonly inputs: readonly ExpectedInput[];
  readonly facts: Pick<InputFactsReader, 'outputSeconds' | 'hasNoise'>;
}

/**
 * Returns only if the stream is whole. ffmpeg's exit code is no proof: with half
 * of a file, or a playlist with a segment missing, it ends with 0.
 *
 * @throws DomainError what is missing.
 */
export async function assertComplete(stream: FinishedStream): Promise<void> {
  const { abort, session, child, output } = stream;
  const exit = await child.exited;
  abort.signal.throwIfAborted();
  if (session.failure !== undefined) throw session.failure;
  if (exit.code !== 0) throw ffmpegFailure(exit, child.stderr);
  if (!output.hasMedia) throw incomplete('nothing that can be played came of it');
  if (!output.isWhole) throw incomplete('the output ends in the middle of a frame');
  if (!session.allReceived()) throw incomplete('not all of its bytes arrived');
  assertNothingLost(stream);
  const shortfall = findShortfall(output.tracks, stream.inputs, stream.plan.durationSeconds);
  if (shortfall === undefined || (await endsEarlyAtTheSource(stream, shortfall))) return;
  const { track, expectedSeconds } = shortfall;
  throw incomplete(
    `its ${track.type} ends at ${track.endSeconds.toFixed(1)} s of ${expectedSeconds.toFixed(1)} s`,
  );
}

function assertNothingLost({ plan, output, inputs, facts }: FinishedStream): void {
  if (facts.hasNoise) throw incomplete('a part of it is noise');
  const timelineSeconds = plan.target === 'mp3' ? facts.outputSeconds : null;
  for (const track of output.tracks) {
    const input = inputs.length === 1 || track.type === 'video' ? inputs[0] : inputs[1];
    const lost = input === undefined ? 0 : lostSeconds(track, input, timelineSeconds);
    if (lost > 0) throw incomplete(`${lost.toFixed(1)} s of its ${track.type} are missing in between`);
  }
}

/**
 * A file may hold sound that is shorter than its pictures, and states the length
 * of the longer. So before a stream is called cut, its own tracks' lengths are asked.
 */
async function endsEarlyAtTheSource(stream: FinishedStream, { inputIndex }: Shortfall): Promise<boolean> {
  const { relay, renew, tools, plan, abort, output } = stream;
  const source = plan.inputs[inputIndex];
  if (source?.kind !== 'file') return false;
  const session = relay.open({ signal: abort.signal, renew });
  try {
    const found = await probe(tools, session.add(source), { signal: abort.signal, maxMs: secondOpinionMs });
    return output.tracks.every((track) => {
      const own = found.streams.find(({ type, isCover }) => type === track.type && !isCover)?.durationSeconds;
      return typeof own === 'number' && isAsLongAs(track, own);
    });
  } finally {
    session.close();
  }
}

function incomplete(what: string): DomainError {
  return new DomainError(
    'upstream_error',
    `The media of the site is not complete: ${what}. Try again later.`,
  );
}
