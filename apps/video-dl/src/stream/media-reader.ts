import { DomainError } from '@media-services/http-common';
import type { MediaProcess } from '../ffmpeg/process.js';
import type { RelaySession } from '../relay/index.js';
import type { MediaOutput } from './media-output.js';
import type { StreamAbort } from './stream-abort.js';
import type { StreamLimits } from './stream-limits.js';
import { watched } from './watchdog.js';

interface ReadingContext {
  readonly abort: StreamAbort;
  readonly session: RelaySession;
  readonly limits: StreamLimits;
}

/**
 * The relay repeats what is silent for the idle timeout, some times; ffmpeg gets
 * that many of them before it is taken for stuck itself.
 */
const idleTimeoutsOfSilence = 6;

/**
 * What ffmpeg makes, finished for the client. Nothing comes before there is real
 * media; headers alone are held back until then.
 *
 * @throws the abort's reason, also when ffmpeg or upstream says nothing for too long.
 */
export async function* readMedia(
  child: MediaProcess,
  output: MediaOutput,
  context: ReadingContext,
): AsyncGenerator<Buffer, void, undefined> {
  const { abort } = context;
  const stdout: AsyncIterable<Buffer, undefined> = child.stdout;
  const chunks = stdout[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  const silenceMs = context.limits.upstreamIdleTimeoutMs * idleTimeoutsOfSilence;
  try {
    await watched(
      context.limits.firstByteTimeoutMs,
      () => abort.abort(firstByteTimeout(context.limits)),
      async () => {
        while (!output.hasMedia) {
          const { done, value } = await chunks.next();
          if (done === true) break;
          held.push(...output.push(value));
        }
      },
    );
    abort.signal.throwIfAborted();
    if (!output.hasMedia) return;
    yield* held;
    held.length = 0;
    for (;;) {
      const { done, value } = await watched(silenceMs, onIdle(context), () => chunks.next());
      abort.signal.throwIfAborted();
      if (done === true) return;
      yield* output.push(value);
    }
  } catch (error) {
    // An aborted child's stdout breaks off; the reason says more than that does.
    abort.signal.throwIfAborted();
    throw error;
  }
}

/** Quiet is no failure as long as upstream bytes come in: a fragment may take longer than the timeout to fill. */
function onIdle({ abort, session, limits }: ReadingContext): () => void {
  let received = session.bytesReceived;
  return () => {
    if (session.bytesReceived === received) abort.abort(idleTimeout(limits));
    received = session.bytesReceived;
  };
}

function firstByteTimeout({ firstByteTimeoutMs }: StreamLimits): DomainError {
  return new DomainError(
    'upstream_timeout',
    `The site's media did not begin to arrive within ${firstByteTimeoutMs / 1000} s. Try again later.`,
  );
}

function idleTimeout({ upstreamIdleTimeoutMs }: StreamLimits): DomainError {
  return new DomainError(
    'upstream_timeout',
    `Nothing came of the site's media for ${(upstreamIdleTimeoutMs * idleTimeoutsOfSilence) / 1000} s.`,
  );
}
