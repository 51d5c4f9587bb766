import { DomainError } from '@media-services/http-common';
import { ChildGroup, childEnvironment, SpawnError } from '@media-services/processes';

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
}

const killGraceMs = 250;

/**
 * Starts ffmpeg or ffprobe with bytes on stdout.
 * @throws DomainError `overloaded` when the machine has no room for one more process, `engine_unavailable` when the program does not start
 * @throws the signal's reason when it is aborted already
 */
export async function startMediaProcess(options: MediaProcessOptions): Promise<ChildGroup> {
  try {
    const env = childEnvironment(options.environment);
    return await ChildGroup.start({ ...options, env, stdin: 'ignore', killGraceMs });
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
