import { parseArgs } from 'node:util';

/** A failure whose message explains what happened and how to fix it. Shown without a stack trace. */
export class UserError extends Error {
  /** @override */
  name = 'UserError';
}

/** Wrong arguments. The message contains the usage. */
class UsageError extends UserError {}

/**
 * Runs a command's main function. Reports an error and exits with code 1, or 2 if the arguments
 * are wrong.
 * @param {() => Promise<number | void>} main returns the exit code; if nothing, `process.exitCode` keeps what a part of it set
 */
export async function runCommandLine(main) {
  // The program that read our output has ended, as in `npm start | head`.
  process.stdout.once('error', () => process.exit(1));
  try {
    process.exitCode = (await main()) ?? process.exitCode ?? 0;
  } catch (error) {
    process.exitCode = error instanceof UsageError ? 2 : 1;
    process.stderr.write(`\n${detailOf(error)}\n`);
  }
}

/**
 * Runs a command that takes these arguments, or prints its usage if `--help` is among them.
 * @typedef {NonNullable<import('node:util').ParseArgsConfig['options']>} Options
 * @typedef {{ values: Readonly<Record<string, unknown>>, positionals: readonly string[] }} Arguments
 * @param {{ usage: string, options?: Options, allowPositionals?: boolean, args?: string[] }} command
 *   `args` replaces the process's own arguments
 * @param {(args: Arguments) => Promise<number | void>} main as for `runCommandLine`
 */
export async function runScript({ usage, options, allowPositionals = false, args }, main) {
  await runCommandLine(async () => {
    const help = /** @type {const} */ ({ type: 'boolean', short: 'h' });
    const config = { options: { ...options, help }, allowPositionals, ...(args && { args }) };
    const parsed = parseArguments(config, usage);
    if (parsed.values.help !== true) return main(parsed);
    process.stdout.write(`${usage}\n`);
    return 0;
  });
}

/**
 * @param {import('node:util').ParseArgsConfig} config
 * @param {string} usage
 * @returns {Arguments}
 */
function parseArguments(config, usage) {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!(error instanceof Error && systemErrorCode(error)?.startsWith('ERR_PARSE_ARGS'))) throw error;
    // The rest is advice that doesn't fit here.
    throw new UsageError(`${error.message.split('. ')[0]}.\n\n${usage}`);
  }
}

const notAllowed =
  'Run the command as the user who owns this checkout, or give that user the files: chown -R USER FOLDER';

const noSpace = 'Free some space on that disk, then run the same command again.';

/**
 * What to do about a failed system call. Others are bugs, and need their stack trace.
 * @type {Readonly<Record<string, string>>}
 */
const remedies = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: 'Make that disk writable, or move the checkout to one that is.',
  ENOSPC: noSpace,
  EDQUOT: noSpace,
};

/** @param {unknown} error */
function detailOf(error) {
  if (!(error instanceof Error)) return String(error);
  const remedy = remedies[systemErrorCode(error) ?? ''];
  if (remedy !== undefined) return `✗ ${error.message}\n${remedy}`;
  return error instanceof UserError ? `✗ ${error.message}` : (error.stack ?? error.message);
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
