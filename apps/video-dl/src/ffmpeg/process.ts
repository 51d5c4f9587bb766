import type { Writable } from 'node:stream';
import { DomainError } from '@media-services/http-common';
import {
  ChildGroup,
  childEnvironment,
  secondInput,
  SpawnError,
  type MemoryLimit,
} from '@media-services/processes';

export interface MediaProcessOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** Kills the whole process group. */
  readonly signal: AbortSignal;
  /**
   * Added to the environment of every child: `http_proxy` of a relay session. Its token would be
   * visible to other users in a command line, but not here.
   */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly onStderrLine?: ((line: string) => void) | undefined;
  /** Encoding video needs memory for frames; everything else needs little. */
  readonly encodesVideo?: boolean;
  /** Each writes into one of `inputDescriptors`, in their order, and ends it. */
  readonly feeds?: readonly ((target: Writable) => unknown)[];
}

/** What a child may read from, as `pipe:N`. */
export const inputDescriptors = [0, secondInput] as const;

const mebibyte = 2 ** 20;

/** Measured at 1080p: 60 MiB to copy or encode audio, 250 MiB to encode video. The index of a five-hour film takes 50 MiB. */
const memoryLimits = {
  standard: { maxResidentBytes: 384 * mebibyte, maxAddressSpaceBytes: 1024 * mebibyte },
  encodingVideo: { maxResidentBytes: 1024 * mebibyte, maxAddressSpaceBytes: 2560 * mebibyte },
} satisfies Record<string, MemoryLimit>;

const killGraceMs = 250;

/**
 * Starts ffmpeg or ffprobe with binary stdout.
 * @throws DomainError `overloaded` when the system can't start another process, `engine_unavailable` when the program doesn't start
 * @throws the signal's reason if already aborted
 */
export async function startMediaProcess(options: MediaProcessOptions): Promise<ChildGroup> {
  try {
    const env = childEnvironment({
      ...options.environment,
      // Each malloc arena reserves 64 MiB of address space.
      MALLOC_ARENA_MAX: '2',
      // A static build of ffmpeg crashes in the system's character sets, which it loads for a transport stream's name.
      GCONV_PATH: '/nonexistent',
    });
    const memory = options.encodesVideo === true ? memoryLimits.encodingVideo : memoryLimits.standard;
    const { feeds = [] } = options;
    const stdin = feeds.length === 0 ? 'ignore' : 'pipe';
    const hasSecondInput = feeds.length > 1;
    const child = await ChildGroup.start({ ...options, env, stdin, hasSecondInput, killGraceMs, memory });
    // A program that ends before it has read everything says why on stderr.
    for (const input of child.inputs) input.on('error', () => {});
    for (const [index, input] of child.inputs.entries()) feeds[index]?.(input);
    return child;
  } catch (error) {
    if (!(error instanceof SpawnError)) throw error;
    const retry = { retryAfterSeconds: 5, cause: error };
    throw error.isShortage
      ? new DomainError(
          'overloaded',
          "The service can't start another process right now. Try again in 5 s.",
          retry,
        )
      : new DomainError('engine_unavailable', "ffmpeg couldn't be started. Try again.", retry);
  }
}

/** The error when ffmpeg or ffprobe exceeds its memory limit. */
export function needsTooMuchMemory(cause?: unknown): DomainError {
  return new DomainError(
    'too_long',
    'Processing this media takes more memory than the service allows per stream. Try another format or a smaller video.',
    { cause },
  );
}
