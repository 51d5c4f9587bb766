import { DomainError } from '@media-services/http-common';
import type { ChildGroup } from '@media-services/processes';
import { Mp3FrameCounter } from '../containers/mp3-frames.js';
import { FragmentedMp4 } from '../containers/mp4/fragmented-mp4.js';
import type { RelaySession } from '../relay/index.js';
import { watched, type StreamAbort, type StreamLimits } from './limits.js';

/** A track of what was sent. */
export interface SentTrack {
  type: 'video' | 'audio';
  endSeconds: number;
  /** Of it without content. */
  gapSeconds: number;
}

/** ffmpeg's output on its way to the client: finished where ffmpeg cannot, and measured. */
export interface MediaOutput {
  /** Whether sound or pictures have passed, not only headers. */
  readonly hasMedia: boolean;
  /** Whether what has passed ends at the end of a box or frame. */
  readonly isWhole: boolean;
  readonly tracks: readonly SentTrack[];
  /** Of an MP3 that have passed; 0 for an MP4. */
  readonly frames: number;
  /** Takes the next bytes of ffmpeg, gives those for the client. */
  push(chunk: Buffer): readonly Buffer[];
}

/** @param movieSeconds the length to write into the first box, asked when that passes. */
export function mp4Output(movieSeconds: () => number | null): MediaOutput {
  const mp4 = new FragmentedMp4(movieSeconds);
  return {
    frames: 0,
    get hasMedia() {
      return mp4.progress.some(({ samples }) => samples > 0);
    },
    get isWhole() {
      return mp4.complete;
    },
    get tracks() {
      return mp4.progress.map(({ handler, endSeconds, gapSeconds }) => ({
        type: handler === 'vide' ? ('video' as const) : ('audio' as const),
        endSeconds,
        gapSeconds,
      }));
    },
    push: (chunk) => mp4.push(chunk),
  };
}

/** Encoders differ by a frame or two at the end. */
const maxDroppedBytes = 4 * 1024;

/** An MP3 as ffmpeg makes it. @param maxBytes more than so many bytes do not pass, where the length was promised. */
export function mp3Output(maxBytes = Infinity): MediaOutput {
  const counter = new Mp3FrameCounter();
  let passedBytes = 0;
  let droppedBytes = 0;
  return {
    get frames() {
      return counter.frames;
    },
    get hasMedia() {
      return counter.frames > 0;
    },
    get isWhole() {
      return counter.complete;
    },
    get tracks() {
      return [{ type: 'audio' as const, endSeconds: counter.seconds, gapSeconds: 0 }];
    },
    push(chunk) {
      const part = chunk.subarray(0, Math.max(0, maxBytes - passedBytes));
      passedBytes += part.length;
      droppedBytes += chunk.length - part.length;
      if (droppedBytes > maxDroppedBytes) throw tooMuch();
      counter.push(part);
      return part.length === 0 ? [] : [part];
    },
  };
}

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
  child: ChildGroup,
  output: MediaOutput,
  context: ReadingContext,
): AsyncGenerator<Buffer, void, undefined> {
  const { abort } = context;
  const stdout: AsyncIterable<Buffer, undefined> = child.stdout;
  const chunks = stdout[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  const silenceMs = context.limits.upstreamIdleTimeoutMs * idleTimeoutsOfSilence;
  try {
    while (!output.hasMedia) {
      const { done, value } = await chunks.next();
      if (done === true) break;
      held.push(...output.push(value));
    }
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

function tooMuch(): DomainError {
  return new DomainError('internal_error', 'ffmpeg made more sound than it was told to.');
}

/** Why a stream ends that has not begun in time. */
export function firstByteTimeout({ firstByteTimeoutMs }: StreamLimits): DomainError {
  return new DomainError(
    'upstream_timeout',
    `The stream did not begin within ${firstByteTimeoutMs / 1000} s. Try again later.`,
  );
}

function idleTimeout({ upstreamIdleTimeoutMs }: StreamLimits): DomainError {
  return new DomainError(
    'upstream_timeout',
    `Nothing came of the site's media for ${(upstreamIdleTimeoutMs * idleTimeoutsOfSilence) / 1000} s.`,
  );
}
