import { DomainError } from '@media-services/http-common';
import { ChildGroup, childEnvironment, SpawnError, type MemoryLimit } from '@media-services/processes';

export interface MediaProcessOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** Ends the whole process group when it aborts. */
  readonly signal: AbortSignal;
  /**
   * What it finds beside what every child does: `http_proxy` of a relay session, whose
   * token other users of the machine could read in a command line, but not here.
   */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly onStderrLine?: ((line: string) => void) | undefined;
  /** Encoding video takes frames of its size; everything else does with little. */
  readonly encodesVideo?: boolean;
}

const mebibyte = 2 ** 20;

/** Measured for 1080p: 60 MiB to copy or to encode audio, 250 MiB to encode video; a film of five hours has 50 MiB of index. */
const memoryLimits = {
  usual: { maxResidentBytes: 384 * mebibyte, maxAddressSpaceBytes: 1024 * mebibyte },
  encodingVideo: { maxResidentBytes: 1024 * mebibyte, maxAddressSpaceBytes: 2560 * mebibyte },
} satisfies Record<string, MemoryLimit>;

const killGraceMs = 250;

/**
 * Starts ffmpeg or ffprobe with bytes on stdout.
 * @throws DomainError `overloaded` when the machine has no room for one more process, `engine_unavailable` when the program does not start
 * @throws the signal's reason when it is aborted already
 */
export async function startMediaProcess(options: MediaProcessOptions): Promise<ChildGroup> {
  try {
    // Each arena of the allocator reserves 64 MiB of address space.
    const env = childEnvironment({ ...options.environment, MALLOC_ARENA_MAX: '2' });
    const memory = options.encodesVideo === true ? memoryLimits.encodingVideo : memoryLimits.usual;
    return await ChildGroup.start({ ...options, env, stdin: 'ignore', killGraceMs, memory });
  } catch (error) {
    if (!(error instanceof SpawnError)) throw error;
    const retry = { retryAfterSeconds: 5, cause: error };
    throw error.isShortage
      ? new DomainError(
          'overloaded',
          'The service cannot start another process now. Try again in 5 s.',
          retry,
        )
      : new DomainError('engine_unavailable', 'ffmpeg could not be started. Try again.', retry);
  }
}

/** Why a stream or a look ends whose media take more memory than one of them may have. */
export function needsTooMuchMemory(cause?: unknown): DomainError {
  return new DomainError(
    'too_long',
    "Reading the site's media takes more memory than this service gives one stream. Try another format or a smaller video.",
    { cause },
  );
}
