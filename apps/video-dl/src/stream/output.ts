import { DomainError } from '@media-services/http-common';
import type { ChildGroup } from '@media-services/processes';
import { Mp3FrameCounter } from '../containers/mp3-frames.js';
import { FragmentedMp4 } from '../containers/mp4/fragmented-mp4.js';
import type { RelaySession } from '../relay/index.js';
import type { StreamAbort, StreamLimits } from './limits.js';
import { SourceRate } from './source-rate.js';

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
  /** Seconds of a track that only an edit list hides, known with its first media. */
  hiddenSeconds(type: SentTrack['type']): number;
  /** Takes the next bytes of ffmpeg, gives those for the client. */
  push(chunk: Buffer): readonly Buffer[];
}

/** @param movieSeconds the length to write into the first box, asked when that passes. */
export function mp4Output(movieSeconds: () => number | null): MediaOutput {
  const mp4 = new FragmentedMp4(movieSeconds);
  return {
    frames: 0,
    hiddenSeconds: (type) => mp4.progress.find(({ handler }) => typeOf(handler) === type)?.hiddenSeconds ?? 0,
    get hasMedia() {
      return mp4.progress.some(({ samples }) => samples > 0);
    },
    get isWhole() {
      return mp4.complete;
    },
    get tracks() {
      return mp4.progress.map(({ handler, endSeconds, gapSeconds }) => ({
        type: typeOf(handler),
        endSeconds,
        gapSeconds,
      }));
    },
    push: (chunk) => mp4.push(chunk),
  };
}

function typeOf(handler: string): SentTrack['type'] {
  return handler === 'vide' ? 'video' : 'audio';
}

/** Encoders differ by a frame or two at the end. */
const maxDroppedBytes = 4 * 1024;

/** An MP3 as ffmpeg makes it. @param maxBytes more than so many bytes do not pass, where the length was promised. */
export function mp3Output(maxBytes = Infinity): MediaOutput {
  const counter = new Mp3FrameCounter();
  let passedBytes = 0;
  let droppedBytes = 0;
  return {
    hiddenSeconds: () => 0,
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
  readonly session: Pick<RelaySession, 'bytesReceived'>;
  readonly limits: StreamLimits;
  /** Whether others wait for a slot. */
  readonly isCrowded: () => boolean;
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
    using rate = sourceRate(output, context);
    for (;;) {
      const { done, value } = await rate.during(chunks.next());
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

/** ffmpeg's silence is no failure while its source brings bytes: a fragment may take longer than the timeout to fill. */
function sourceRate(output: MediaOutput, { abort, session, limits, isCrowded }: ReadingContext): SourceRate {
  return new SourceRate({
    progress: () => ({
      bytes: session.bytesReceived,
      mediaSeconds: Math.max(0, ...output.tracks.map(({ endSeconds }) => endSeconds)),
    }),
    minBytesPerMinute: limits.minSourceBytesPerMinute,
    isCrowded,
    onStarved: () => abort.abort(slowSource()),
    maxSilenceMs: limits.upstreamIdleTimeoutMs * idleTimeoutsOfSilence,
    onSilent: () => abort.abort(idleTimeout(limits)),
  });
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

/** Why a stream ends whose source sends too slowly. */
export function slowSource(): DomainError {
  return new DomainError(
    'upstream_timeout',
    "The site's media server sends too slowly to keep a slot for it. Try again later.",
  );
}
