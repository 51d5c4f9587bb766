import { spawn, type ChildProcess } from 'node:child_process';
import { DomainError, type Logger } from '@media-services/http-common';
import { openChannel, stdioFor, type Channel } from '../channel/channel.js';
import { engineMessageSchema, type EngineMessage } from '../channel/messages.js';
import { deferred } from '../deferred.js';
import { EngineJobError, type EngineOptions } from '../engine-options.js';
import { signalProcessGroup } from './process-group.js';
import { keepStderrTail } from './stderr-tail.js';

interface CurrentJob<Result> {
  readonly id: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** One engine process: its handshake, one job at a time, and its end with the whole process group. */
export class EngineProcess<Job, Result, Ready> {
  readonly #options: EngineOptions<Result, Ready>;
  readonly #logger: Logger;
  readonly #child: ChildProcess;
  readonly #channel: Channel;
  readonly #stderrTail: () => string;
  readonly #ready = deferred<Ready>();
  readonly #exited = deferred<string>();
  #job: CurrentJob<Result> | undefined;
  #nextJobId = 1;
  #isReady = false;
  #hasExited = false;
  #fault: string | undefined;
  #stopping: Promise<void> | undefined;
  #jobsDone = 0;

  constructor(options: EngineOptions<Result, Ready>) {
    this.#options = options;
    const { file, args, env, cwd } = options.spawn();
    this.#child = spawn(file, [...args], {
      stdio: stdioFor(options.channel),
      serialization: 'advanced',
      detached: true,
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#logger = options.logger.child({ engine: options.name, enginePid: this.#child.pid });
    this.#stderrTail = keepStderrTail(this.#child.stderr, this.#logger);
    if (options.channel === 'ipc') this.#child.stdout?.resume();
    this.#channel = openChannel(options.channel, this.#child, {
      onMessage: (message) => this.#receive(message),
      onGarbage: (reason) => this.#fail(`sent ${reason}`),
    });
    this.#ready.promise.catch(() => undefined);
    const readyTimer = setTimeout(
      () => this.#fail(`was not ready within ${options.readyTimeoutMs / 1000} s`),
      options.readyTimeoutMs,
    );
    void this.#exited.promise.then(() => clearTimeout(readyTimer));
    void this.#ready.promise.then(
      () => clearTimeout(readyTimer),
      () => clearTimeout(readyTimer),
    );
    this.#child.once('error', (error) => {
      this.#fault ??= `could not be started (${error.message})`;
      if (this.#child.pid === undefined) this.#onExit(null, null);
    });
    // `close` and not `exit`: a last answer may still be in the pipe.
    this.#child.once('exit', () => this.#reapGroup());
    this.#child.once('close', (code, signal) => this.#onExit(code, signal));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get jobsDone(): number {
    return this.#jobsDone;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Resolves at the handshake; rejects when the process ends before. */
  get ready(): Promise<Ready> {
    return this.#ready.promise;
  }

  /** Resolves with the reason when the process has ended. */
  get exited(): Promise<string> {
    return this.#exited.promise;
  }

  /**
   * Runs one job.
   * `answer` follows the engine, or rejects at once with the signal's reason;
   * `idle` resolves when the process can take the next job or has ended.
   */
  run(job: Job, signal: AbortSignal): { answer: Promise<Result>; idle: Promise<void> } {
    const id = this.#nextJobId++;
    const engine = deferred<Result>();
    this.#job = { id, resolve: engine.resolve, reject: engine.reject };
    this.#channel.send({ type: 'run', id, job });

    const idle = engine.promise.then(
      () => undefined,
      () => undefined,
    );
    const aborted = deferred<never>();
    const onAbort = (): void => {
      aborted.reject(signal.reason);
      void this.#cancel(id, idle);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    void idle.then(() => signal.removeEventListener('abort', onAbort));
    const answer = Promise.race([engine.promise, aborted.promise]);
    return { answer, idle: idle.then(async () => this.#waitIfFaulty()) };
  }

  /** Ends the process group: SIGTERM, then SIGKILL after the grace period. Resolves when it is gone. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || this.#hasExited) return;
    signalProcessGroup(pid, 'SIGTERM');
    const timer = setTimeout(() => signalProcessGroup(pid, 'SIGKILL'), this.#options.killGraceMs);
    await this.#exited.promise;
    clearTimeout(timer);
    signalProcessGroup(pid, 'SIGKILL');
  }

  async #cancel(id: number, idle: Promise<void>): Promise<void> {
    this.#channel.send({ type: 'cancel', id });
    const grace = deferred<'too late'>();
    const timer = setTimeout(() => grace.resolve('too late'), this.#options.cancelGraceMs);
    const first = await Promise.race([idle, grace.promise]);
    clearTimeout(timer);
    if (first === 'too late') this.#fail('did not end a cancelled job', 'SIGKILL');
  }

  /** A process that broke the protocol is being killed: it takes no next job. */
  async #waitIfFaulty(): Promise<void> {
    if (this.#fault !== undefined) await this.#exited.promise;
  }

  #receive(raw: unknown): void {
    const parsed = engineMessageSchema.safeParse(raw);
    if (!parsed.success) this.#fail('sent a message that is not of the protocol');
    else if ('type' in parsed.data) this.#receiveReady(parsed.data);
    else this.#receiveAnswer(parsed.data);
  }

  #receiveReady(message: EngineMessage): void {
    const ready = this.#options.readySchema.safeParse(message);
    if (!ready.success) {
      this.#fail('sent a ready message of the wrong form');
      return;
    }
    this.#isReady = true;
    this.#ready.resolve(ready.data);
  }

  #receiveAnswer(message: Exclude<EngineMessage, { type: 'ready' }>): void {
    const job = this.#job;
    if (job?.id !== message.id) {
      this.#fail('answered a job that it was not given');
      return;
    }
    if (message.ok) {
      const result = this.#options.resultSchema.safeParse(message.result);
      if (!result.success) {
        this.#logger.error({ issues: result.error.issues.slice(0, 5) }, 'engine result of the wrong form');
        this.#fail('sent a result of the wrong form');
        return;
      }
      this.#job = undefined;
      this.#jobsDone += 1;
      job.resolve(result.data);
    } else {
      this.#job = undefined;
      this.#jobsDone += 1;
      job.reject(new EngineJobError(this.#options.name, message.error));
    }
  }

  /** The process cannot be trusted any more: its job fails and its group is killed. */
  #fail(fault: string, signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): void {
    if (this.#hasExited || this.#fault !== undefined) return;
    this.#fault = fault;
    this.#rejectJob(fault);
    this.#ready.reject(this.#unavailable(fault));
    if (this.#child.pid !== undefined) signalProcessGroup(this.#child.pid, signal);
  }

  /** Children of a dead engine would hold its pipes, and so its end, open. */
  #reapGroup(): void {
    if (this.#child.pid !== undefined) signalProcessGroup(this.#child.pid, 'SIGKILL');
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    const how = signal === null ? `ended with exit code ${code ?? 'unknown'}` : `was ended by ${signal}`;
    const reason = this.#fault ?? how;
    const expected = this.#stopping !== undefined && this.#fault === undefined;
    if (!expected) this.#logger.error({ reason, stderr: this.#stderrTail() }, 'engine ended');
    this.#rejectJob(reason);
    if (!this.#isReady) this.#ready.reject(this.#unavailable(reason));
    this.#exited.resolve(reason);
    this.#options.onEvent?.({ type: 'exit', expected, reason });
  }

  #rejectJob(reason: string): void {
    const job = this.#job;
    this.#job = undefined;
    job?.reject(this.#unavailable(reason));
  }

  #unavailable(reason: string): DomainError {
    return new DomainError(
      'engine_unavailable',
      `The ${this.#options.name} failed and is being restarted. Try again in a few seconds.`,
      { cause: new Error(`The ${this.#options.name} ${reason}.`) },
    );
  }
}
