/** A failure whose message explains what happened and how to fix it. Shown without a stack trace. */
export class UserError extends Error {
  /** @override */
  name = 'UserError';
}

/**
 * Runs a command's main function. Reports an error and exits with code 1.
 * @param {() => Promise<number | void>} main returns the exit code; if nothing, `process.exitCode` keeps what a part of it set
 */
export async function runCommandLine(main) {
  try {
    process.exitCode = (await main()) ?? process.exitCode ?? 0;
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
