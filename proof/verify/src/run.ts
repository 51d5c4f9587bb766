import { root } from '@media-services/stack/set-up';
import { execa } from 'execa';

const shownCharacters = 1500;

export interface RunOptions {
  /** Standard input; empty by default. */
  readonly input?: string | Uint8Array;
  /** Added to this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Returns the standard output for any exit code. */
  readonly allowFailure?: boolean;
}

/**
 * Runs a program to completion in the root of the repository.
 * @returns its standard output
 * @throws {Error} with the end of its output if its exit code is not 0, unless `allowFailure`
 */
export async function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return Buffer.from(await runBinary(file, args, options)).toString();
}

/** Like `run`, for binary output. */
export async function runBinary(
  file: string,
  args: readonly string[],
  { input, env = {}, cwd = root, allowFailure = false }: RunOptions = {},
): Promise<Uint8Array> {
  const result = await execa(file, args, {
    cwd,
    env,
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    encoding: 'buffer',
    all: true,
    reject: false,
  });
  if (result.exitCode === undefined) throw new Error(result.shortMessage ?? `${file} did not run`);
  if (result.exitCode !== 0 && !allowFailure) {
    const command = [file, ...args.slice(0, 6)].join(' ');
    const end = Buffer.from(result.all).toString().slice(-shownCharacters);
    throw new Error(`${command} … ended with ${result.exitCode}: ${end}`);
  }
  return result.stdout;
}
