import { errorCode } from '@media-services/http-common';
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { childEnvironment } from './child-environment.js';
import { StderrTail } from './stderr-tail.js';

/** How a child ended. `code` is null when a signal ended it or it never started (`spawnError`). */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  spawnError?: Error;
}

export interface MediaProcessOptions {
  file: string;
  args: readonly string[];
  /** Ends the whole process group when it aborts. */
  signal: AbortSignal;
  /** Time between TERM and KILL. */
  killGraceMs?: number;
  onStderrLine?: (line: string) => void;
  env?: Readonly<Record<string, string>>;
}

/**
 * A child in its own process group with bytes on stdout, never through a shell.
 * Disposing ends the group: stdout is closed (a writer blocked on it wakes up),
 * TERM, then KILL. `exited` never rejects.
 */
export class MediaProcess implements AsyncDisposable {
  readonly exited: Promise<ProcessExit>;
  readonly stderr: StderrTail;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #killGraceMs: number;
  #killTimer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: MediaProcessOptions) {
    this.#killGraceMs = options.killGraceMs ?? 250;
    this.stderr = new StderrTail(options.onStderrLine === undefined ? {} : { onLine: options.onStderrLine });
    this.#child = spawn(options.file, options.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: childEnvironment(options.env),
      windowsHide: true,
    });
    this.#child.stderr.on('data', (chunk: Buffer) => this.stderr.push(chunk));
    this.exited = this.#watch(options.signal);
    if (options.signal.aborted) this.#terminate();
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  #watch(signal: AbortSignal): Promise<ProcessExit> {
    const onAbort = () => this.#terminate();
    signal.addEventListener('abort', onAbort, { once: true });
    return new Promise((resolve) => {
      let spawnError: Error | undefined;
      const finish = (code: number | null, exitSignal: NodeJS.Signals | null) => {
        if (this.#ended) return;
        // Before `#ended`: a grandchild that kept the group alive goes too, even after success.
        this.#signalGroup('SIGKILL');
        this.#ended = true;
        clearTimeout(this.#killTimer);
        signal.removeEventListener('abort', onAbort);
        this.stderr.end();
        resolve({ code, signal: exitSignal, ...(spawnError && { spawnError }) });
      };
      this.#child.on('error', (error) => {
        spawnError = error;
        if (this.#child.pid === undefined) finish(null, null);
      });
      // 'exit' and not 'close': stdout that nobody reads any more must not delay the news.
      this.#child.on('exit', (code, exitSignal) => {
        if (this.#child.stderr.readableEnded) finish(code, exitSignal);
        else {
          this.#child.stderr.once('close', () => finish(code, exitSignal));
          this.#signalGroup('SIGKILL');
        }
      });
    });
  }

  #terminate(): void {
    if (this.#ended || this.#killTimer !== undefined) return;
    this.#child.stdout.destroy();
    this.#signalGroup('SIGTERM');
    this.#killTimer = setTimeout(() => this.#signalGroup('SIGKILL'), this.#killGraceMs);
  }

  #signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#ended) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // ESRCH: the group is gone already, which is the aim.
      if (errorCode(error) !== 'ESRCH') throw error;
    }
  }

  /** Ends the process group if it still runs, and waits for the end. */
  async stop(): Promise<ProcessExit> {
    this.#terminate();
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
