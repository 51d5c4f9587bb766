import { setTimeout as delay } from 'node:timers/promises';
import { systemErrorCode } from '@media-services/stack/set-up';
import { execa } from 'execa';

export interface GroupOutcome {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly timedOut: boolean;
}

/**
 * Runs a program in its own process group and shows its output. Kills what is left of the group
 * when the program ends or takes too long.
 * @param options.onOutput receives the output instead of showing it
 */
export async function runGroup(
  file: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly timeoutMs: number;
    readonly onOutput?: (text: string) => void;
  },
): Promise<GroupOutcome> {
  const { cwd, env, timeoutMs, onOutput } = options;
  const output = onOutput === undefined ? 'inherit' : 'pipe';
  const child = execa(file, args, {
    cwd,
    env,
    extendEnv: false,
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    stdout: output,
    stderr: output,
  });
  if (onOutput !== undefined) {
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput);
  }
  const killAll = () => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  process.once('exit', killAll);
  const timer = new AbortController();
  const late = delay(timeoutMs, true, { signal: timer.signal }).catch(() => false); // over in time
  const over = child.then(({ exitCode, code, shortMessage }) => {
    if (code === 'ENOENT') process.stderr.write(`${shortMessage}\n`);
    return exitCode;
  });
  const timedOut = await Promise.race([over.then(() => false), late]);
  timer.abort();
  killAll();
  process.off('exit', killAll);
  return { code: timedOut ? undefined : await over, timedOut };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error; // nothing was left
  }
}
