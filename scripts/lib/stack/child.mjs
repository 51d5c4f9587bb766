import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { tailOf } from '../run-command.mjs';

/**
 * A long-running program in a process group of its own, so that a Ctrl-C in the
 * terminal reaches only the command, which then stops all in the right order.
 */
export class Child {
  /** Settles when the process is gone; never rejects. */
  exited;

  /**
   * @param {{ name: string, file: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string, logFile: string, onLine?: (name: string, line: string) => void }} options
   *   with `onLine`, output goes there instead of to the log file
   */
  constructor({ name, file, args, env, cwd, logFile, onLine }) {
    this.name = name;
    this.logFile = logFile;
    this.stopping = false;
    const log = openSync(logFile, 'w');
    const output = onLine === undefined ? log : 'pipe';
    this.process = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', output, output] });
    closeSync(log);
    this.tail = '';
    if (onLine !== undefined) {
      for (const stream of [this.process.stdout, this.process.stderr]) this.#forward(stream, onLine);
    }
    this.exited = new Promise((resolve) => {
      this.process.once('error', (error) => resolve({ reason: error.message }));
      this.process.once('exit', (code, signal) =>
        resolve({ code, signal, reason: signal === null ? `exit code ${code}` : `signal ${signal}` }),
      );
    });
  }

  get pid() {
    return this.process.pid;
  }

  /** The end of its output, to show when it died. */
  lastLines() {
    return tailOf(this.tail || readFileSync(this.logFile, 'utf8'), 12);
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

  #forward(stream, onLine) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      this.tail = (this.tail + chunk).slice(-8000);
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(this.name, line);
    });
    stream.on('end', () => rest && onLine(this.name, rest));
  }
}
