import {
  closeSync,
  createWriteStream,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { sendSignal, systemErrorCode, tailOf } from '@media-services/stack/set-up';
import { execa } from 'execa';

export interface ChildOptions {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Receives the output. The previous run's log is kept next to it as `….previous.log`. */
  readonly logFile: string;
  /** Receives each line of the log file as it is written. */
  readonly onLine?: ((name: string, line: string) => void) | undefined;
  /** Whether it is a Node program that reports with `process.send`. */
  readonly ipc?: boolean;
}

/** How a process ended. `reason` is `exit code 1`, `signal SIGKILL`, or why it never started. */
export interface Exit {
  readonly signal: string | undefined;
  readonly reason: string;
}

/**
 * A long-running program in its own process group. Ctrl-C in the terminal then reaches only the
 * command, which stops the programs in the right order.
 */
export class Child {
  readonly name: string;
  readonly logFile: string;
  readonly pid: number | undefined;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** Resolves with the first message of a program started with `ipc`; never rejects. */
  readonly message: Promise<unknown>;
  /** True once the process is being stopped on purpose. */
  stopping = false;

  constructor({ name, file, args, env, cwd, logFile, onLine, ipc = false }: ChildOptions) {
    this.name = name;
    this.logFile = logFile;
    if (existsSync(logFile)) renameSync(logFile, logFile.replace(/\.log$/, '.previous.log'));
    writeFileSync(logFile, '');
    // Execa passes an opened file stream as a file descriptor, not as a pipe, which nginx could
    // not reopen.
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
      ipc,
      reject: false,
    });
    log.destroy();
    this.message = new Promise((resolve) => child.once('message', resolve));
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

  /** The end of its output, to show after a crash. */
  lastLines(): string {
    try {
      return tailOf(readFileSync(this.logFile, 'utf8'), 12);
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
      return '(its log file has been deleted)';
    }
  }

  /** Sends SIGTERM, and kills the whole process group after the process has ended or after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    if (this.pid === undefined) return;
    sendSignal(this.pid, 'SIGTERM');
    const timer = new AbortController();
    await Promise.race([
      this.exited,
      delay(graceMs, undefined, { signal: timer.signal }).catch(() => undefined), // ended in time
    ]);
    timer.abort();
    // Even a well-behaved parent can leave processes behind in its group.
    sendSignal(-this.pid, 'SIGKILL');
    await this.exited;
  }
}

/** The message for a process that has ended unexpectedly. */
export function deathMessage({ child, reason }: { child: Child; reason: string }): string {
  return `${child.name} ended unexpectedly (${reason}). Its last lines (${child.logFile}):\n${child.lastLines()}`;
}

const pollMs = 200;

/**
 * Passes on the lines that a program writes to its log file. Programs write to files instead of
 * pipes, because nginx cannot open a Node pipe as its access log.
 * @returns a function that reads the remaining lines and stops
 */
function followLog(file: string, onLine: (line: string) => void): () => void {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.alloc(64 * 1024);
  const decoder = new TextDecoder();
  let rest = '';
  const take = () => {
    for (;;) {
      const length = readSync(descriptor, buffer);
      if (length === 0) return;
      const lines = (rest + decoder.decode(buffer.subarray(0, length), { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    }
  };
  const timer = setInterval(take, pollMs);
  return () => {
    clearInterval(timer);
    take();
    if (rest !== '') onLine(rest);
    closeSync(descriptor);
  };
}
