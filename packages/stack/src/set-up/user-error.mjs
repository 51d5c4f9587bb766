/** A failure whose message already says what happened and the way out; shown without a stack. */
export class UserError extends Error {
  /** @override */
  name = 'UserError';
}

/**
 * Runs a command's main function; what it throws is reported and becomes exit code 1.
 * @param {() => Promise<number | void>} main its result is the exit code, 0 where it returns none
 */
export async function runCommandLine(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`\n${error instanceof UserError ? `✗ ${error.message}` : detailOf(error)}\n`);
  }
}

/** @param {unknown} error */
function detailOf(error) {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * The code of a failed system call, such as `ENOENT`; undefined for any other error.
 * @param {unknown} error
 * @returns {string | undefined}
 */
export function systemErrorCode(error) {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
