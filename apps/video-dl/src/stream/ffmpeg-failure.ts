import { DomainError } from '@media-services/http-common';
import type { ProcessExit } from '../ffmpeg/process.js';
import type { StderrTail } from '../ffmpeg/stderr-tail.js';

const missingPart = /unknown encoder|encoder not found|unrecognized option|option not found|no such filter/iu;

/** Why ffmpeg ended without success, for the client; what it wrote is in `cause`, for the log. */
export function ffmpegFailure(exit: ProcessExit, stderr: StderrTail): DomainError {
  const wrote = stderr.toString();
  const cause = new Error(`ffmpeg ended with ${exit.code ?? exit.signal ?? 'no exit code'}: ${wrote}`, {
    cause: exit.spawnError,
  });
  if (exit.spawnError !== undefined || exit.signal !== null) {
    return new DomainError(
      'engine_unavailable',
      'ffmpeg was stopped from outside or could not start. Try again.',
      {
        cause,
        retryAfterSeconds: 5,
      },
    );
  }
  if (missingPart.test(wrote)) {
    return new DomainError('internal_error', 'The installed ffmpeg lacks a part that this stream needs.', {
      cause,
    });
  }
  return new DomainError(
    'upstream_error',
    'The site sent something that cannot be read as the media it announced. Check that it plays in a browser; try again later.',
    { cause },
  );
}
