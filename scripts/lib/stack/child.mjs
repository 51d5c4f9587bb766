import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { tailOf } from '../run-command.mjs';
import { followLog } from './follow-log.mjs';

/**
 * A long-running program in a process group of its own, so that a Ctrl-C in the
 * terminal reaches only the command, which then stops all in the right order.
 */
export class Child {
  /** Settles when the process is gone; never rejects. */
  exited;

  /**
   * @param {{ name: string, file: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string, logFile: string, onLine?: (name: string, line: string) => void }} options
   *   `onLine` is given each line of the log file as it is written
   */
  constructor({ name, file, args, env, cwd, logFile, onLine }) {
    this.name = name;
    this.logFile = logFile;
    this.stopping = false;
    writeFileSync(logFile, '');
    const log = openSync(logFile, 'a');
    this.process = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    const unfollow = onLine && followLog(logFile, (line) => onLine(name, line));
    this.exited = new Promise((resolve) => {
      this.process.once('error', (error) => resolve({ reason: error.message }));
      this.process.once('exit', (code, signal) =>
        resolve({ code, signal, reason: signal === null ? `exit code ${code}` : `signal ${signal}` }),
      );
    });
    if (unfollow) void this.exited.then(unfollow);
  }

  get pid() {
    return this.process.pid;
  }

  /** The end of its output, to show when it died. */
  lastLines() {
    return tailOf(readFileSync(this.logFile, 'utf8'), 12);
  }

  /** Asks it to end, and after `graceMs` ends its whole process group. */
  async stop(graceMs) {
    this.stopping = true;
    if (this.pid === undefined) return;
    this.#signal('SIGTERM', this.pid);
    const timer = new AbortController();
    await Promise.race([
      this.exited,
      delay(graceMs, undefined, { signal: timer.signal }).catch(() => {}), // ended in time
    ]);
    timer.abort();
    // Also what a well-behaved parent has left behind in its group.
    this.#signal('SIGKILL', -this.pid);
    await this.exited;
  }

  #signal(signal, pid) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error; // ESRCH: already gone
    }
  }
}
