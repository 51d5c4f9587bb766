/** A failure whose message already says what happened and the way out; shown without a stack. */
export class UserError extends Error {
  name = 'UserError';
}

/** Runs a command's main function; what it throws is reported and becomes exit code 1. */
export async function runCommandLine(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`\n${error instanceof UserError ? `✗ ${error.message}` : error.stack}\n`);
  }
}
