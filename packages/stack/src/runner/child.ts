import { createWriteStream, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { systemErrorCode, tailOf } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { followLog } from './follow-log.js';

export interface ChildOptions {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Takes its output; the one of the run before is kept beside it, as `….previous.log`. */
  readonly logFile: string;
  /** Is given each line of the log file as it is written. */
  readonly onLine?: ((name: string, line: string) => void) | undefined;
}

/** How a process ended, in words: `exit code 1`, `signal SIGKILL`, or why it never started. */
export interface Exit {
  readonly signal: string | undefined;
  readonly reason: string;
}

/**
 * A long-running program in a process group of its own, so that a Ctrl-C in the
 * terminal reaches only the command, which then stops all in the right order.
 */
export class Child {
  readonly name: string;
  readonly logFile: string;
  readonly pid: number | undefined;
  /** Settles when the process is gone; never rejects. */
  readonly exited: Promise<Exit>;
  /** True when its end is wanted. */
  stopping = false;

  constructor({ name, file, args, env, cwd, logFile, onLine }: ChildOptions) {
    this.name = name;
    this.logFile = logFile;
    if (existsSync(logFile)) renameSync(logFile, logFile.replace(/\.log$/, '.previous.log'));
    writeFileSync(logFile, '');
    // A stream that has its file already goes to the program as that file: nginx cannot open a pipe.
    const log = createWriteStream(logFile, { fd: openSync(logFile, 'a') });
    const child = execa(file, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      extendEnv: false,
      detached: true,
      cleanup: false,
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      reject: false,
    });
    log.destroy();
    this.pid = child.pid;
    const unfollow = onLine && followLog(logFile, (line) => onLine(name, line));
    this.exited = child.then(({ exitCode, signal, shortMessage }) => {
      unfollow?.();
      if (signal !== undefined) return { signal, reason: `signal ${signal}` };
      return {
        signal: undefined,
        reason: exitCode === undefined ? (shortMessage ?? 'not started') : `exit code ${exitCode}`,
      };
    });
  }

  /** The end of its output, to show when it died. */
  lastLines(): string {
    return tailOf(readFileSync(this.logFile, 'utf8'), 12);
  }

  /** Asks it to end, and after `graceMs` ends its whole process group. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    if (this.pid === undefined) return;
    signalTo('SIGTERM', this.pid);
    const timer = new AbortController();
    await Promise.race([
      this.exited,
      delay(graceMs, undefined, { signal: timer.signal }).catch(() => undefined), // ended in time
    ]);
    timer.abort();
    // Also what a well-behaved parent has left behind in its group.
    signalTo('SIGKILL', -this.pid);
    await this.exited;
  }
}

function signalTo(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error; // ESRCH: already gone
  }
}
