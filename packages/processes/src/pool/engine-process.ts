import type { Logger } from '@media-services/http-common';
import {
  type Channel,
  type EngineResponse,
  type EngineMessage,
  engineMessageSchema,
  type EngineStep,
  openChannel,
} from '../channel.js';
import { ChildGroup, type ChildExit } from '../child/child-group.js';
import { childEnvironment } from '../child/child-environment.js';
import { processorTimeMs, treeMemoryBytes } from '../child/process-usage.js';
import { redactUrls } from '../child/stderr-tail.js';
import { deferred } from '../deferred.js';
import {
  EngineEndedError,
  EngineJobError,
  EngineMemoryError,
  EngineProcessorError,
  type EngineOptions,
  type OnStep,
} from '../engine-options.js';

const limitCheckIntervalMs = 250;

interface CurrentJob<Result> {
  readonly id: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
  readonly onStep: (step: unknown) => void;
}

/**
 * One engine process: performs the handshake, runs one job at a time, and ends with its whole
 * process group.
 */
export class EngineProcess<Job, Result, Ready> {
  readonly #options: EngineOptions<Result, Ready>;
  readonly #logger: Logger;
  readonly #child: ChildGroup;
  readonly #channel: Channel;
  readonly #ready = deferred<Ready>();
  readonly #exited = deferred<string>();
  readonly #readyTimer: NodeJS.Timeout;
  #job: CurrentJob<Result> | undefined;
  #nextJobId = 1;
  #isReady = false;
  #hasExited = false;
  #endedInJob = false;
  #fault: string | undefined;
  #isStopping = false;
  #jobsDone = 0;

  private constructor(options: EngineOptions<Result, Ready>, child: ChildGroup, logger: Logger) {
    this.#options = options;
    this.#child = child;
    this.#logger = logger.child({ enginePid: child.pid });
    if (options.channel === 'ipc') child.stdout.resume();
    this.#channel = openChannel(options.channel, child, {
      onMessage: (message) => this.#receive(message),
      onGarbage: (reason) => this.#fail(`sent ${reason}`),
    });
    this.#ready.promise.catch(() => undefined);
    this.#readyTimer = setTimeout(
      () => this.#fail(`was not ready within ${options.readyTimeoutMs / 1000} s`),
      options.readyTimeoutMs,
    );
    const stopTimer = (): void => clearTimeout(this.#readyTimer);
    this.#ready.promise.then(stopTimer, stopTimer);
    void this.#exited.promise.then(stopTimer);
    // `closed` and not `exited`: a last response may still be in the pipe.
    void child.closed.then((exit) => this.#onExit(exit));
  }

  /** @throws SpawnError */
  static async start<Job, Result, Ready>(
    options: EngineOptions<Result, Ready>,
  ): Promise<EngineProcess<Job, Result, Ready>> {
    const { file, args, env } = options.spawn();
    const logger = options.logger.child({ engine: options.name });
    const child = await ChildGroup.start({
      file,
      args,
      env: childEnvironment(env),
      stdin: options.channel === 'ipc' ? 'ignore' : 'pipe',
      ipc: options.channel === 'ipc',
      killGraceMs: options.killGraceMs,
      memory: { maxDataBytes: options.maxDataBytes },
      onStderrLine: (line) => logger.debug({ stderr: redactUrls(line).slice(0, 2000) }, 'engine stderr'),
    });
    return new EngineProcess<Job, Result, Ready>(options, child, logger);
  }

  get pid(): number {
    return this.#child.pid;
  }

  get jobsDone(): number {
    return this.#jobsDone;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Whether the process ended unexpectedly during a job. */
  get endedInJob(): boolean {
    return this.#endedInJob;
  }

  /** Resolves at the handshake; rejects if the process ends first. */
  get ready(): Promise<Ready> {
    return this.#ready.promise;
  }

  /** Resolves with the reason when the process has ended. */
  get exited(): Promise<string> {
    return this.#exited.promise;
  }

  /**
   * Runs one job. When the engine sends an intermediate result, `onStep` supplies the data it
   * continues with. `result` settles with the engine's response, or rejects at once with the
   * signal's reason. `idle` resolves when the process can take the next job or has ended.
   */
  run(job: Job, signal: AbortSignal, onStep?: OnStep): { result: Promise<Result>; idle: Promise<void> } {
    const id = this.#nextJobId++;
    const engine = deferred<Result>();
    const aborted = deferred<never>();
    const abandon = (reason: unknown): void => {
      aborted.reject(reason);
      void this.#cancel(id, idle);
    };
    const handleStep = async (step: unknown): Promise<void> => {
      try {
        if (onStep === undefined)
          throw new Error(`The ${this.#options.name} sent an intermediate result that nothing handles.`);
        const data = await onStep(step);
        if (this.#isRunning(id)) this.#channel.send({ type: 'continue', id, data });
      } catch (error) {
        if (this.#isRunning(id)) abandon(error);
      }
    };
    this.#job = {
      id,
      resolve: engine.resolve,
      reject: engine.reject,
      onStep: (step) => void handleStep(step),
    };
    this.#channel.send({ type: 'run', id, job });
    void this.#watchLimits(id);

    const idle = engine.promise.then(
      () => undefined,
      () => undefined,
    );
    const onAbort = (): void => abandon(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    void idle.then(() => signal.removeEventListener('abort', onAbort));
    const result = Promise.race([engine.promise, aborted.promise]);
    return { result, idle: idle.then(async () => this.#waitIfFaulty()) };
  }

  prepare(): void {
    this.#channel.send({ type: 'prepare' });
  }

  /** Ends the process group: SIGTERM, then SIGKILL after the grace period. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#child.stop();
    await this.#exited.promise;
  }

  /**
   * A limit must act during the job, so we kill the process as soon as it exceeds one.
   * Each check reads a dozen files of `/proc`; short jobs end before the first one.
   */
  async #watchLimits(id: number): Promise<void> {
    const { name, maxMemoryBytes = 0, maxJobProcessorMs = 0 } = this.#options;
    if (maxMemoryBytes <= 0 && maxJobProcessorMs <= 0) return;
    const startedAt = performance.now();
    const usedBefore = processorTimeMs(this.#child.pid) ?? 0;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, limitCheckIntervalMs).unref());
      if (!this.#isRunning(id)) return;
      const used = processorTimeMs(this.#child.pid) ?? performance.now() - startedAt;
      if (maxJobProcessorMs > 0 && used - usedBefore > maxJobProcessorMs) {
        const error = new EngineProcessorError(name, maxJobProcessorMs);
        this.#fail(`used ${Math.round(used - usedBefore)} ms of processor time`, error);
        return;
      }
      const bytes = maxMemoryBytes > 0 ? await treeMemoryBytes(this.#child.pid) : 0;
      if (bytes > maxMemoryBytes && maxMemoryBytes > 0 && this.#isRunning(id)) {
        this.#fail(`used ${bytes} bytes of memory`, new EngineMemoryError(name, maxMemoryBytes));
        return;
      }
    }
  }

  #isRunning(id: number): boolean {
    return this.#job?.id === id;
  }

  async #cancel(id: number, idle: Promise<void>): Promise<void> {
    this.#channel.send({ type: 'cancel', id });
    const grace = deferred<'too late'>();
    const timer = setTimeout(() => grace.resolve('too late'), this.#options.cancelGraceMs);
    const first = await Promise.race([idle, grace.promise]);
    clearTimeout(timer);
    if (first === 'too late') this.#fail('did not end a cancelled job');
  }

  /** A process that broke the protocol is being killed, so it isn't idle until it's gone. */
  async #waitIfFaulty(): Promise<void> {
    if (this.#fault !== undefined) await this.#exited.promise;
  }

  #receive(raw: unknown): void {
    const parsed = engineMessageSchema.safeParse(raw);
    if (!parsed.success) this.#fail('sent a message that violates the protocol');
    else if ('type' in parsed.data) {
      if (parsed.data.type === 'ready') this.#receiveReady(parsed.data);
      // A slow start is harmless. No-op once the timer is cleared.
      else this.#readyTimer.refresh();
    } else if ('step' in parsed.data) this.#receiveStep(parsed.data);
    else this.#receiveResponse(parsed.data);
  }

  #receiveReady(message: EngineMessage): void {
    const ready = this.#options.readySchema.safeParse(message);
    if (!ready.success) {
      this.#fail('sent an invalid ready message');
      return;
    }
    this.#isReady = true;
    this.#ready.resolve(ready.data);
  }

  #receiveStep({ id, step }: EngineStep): void {
    if (this.#job?.id === id) this.#job.onStep(step);
    else this.#fail('sent an intermediate result for a job it was not running');
  }

  #receiveResponse(message: EngineResponse): void {
    const job = this.#job;
    if (job?.id !== message.id) {
      this.#fail('sent a result for a job it was not running');
      return;
    }
    this.#job = undefined;
    this.#jobsDone += 1;
    if (!message.ok) {
      job.reject(new EngineJobError(this.#options.name, message.error));
      return;
    }
    const result = this.#options.resultSchema.safeParse(message.result);
    if (result.success) job.resolve(result.data);
    // The response followed the protocol, so the engine is healthy; the bug is in our code.
    else
      job.reject(new Error(`The ${this.#options.name} returned an invalid result.`, { cause: result.error }));
  }

  /** The process can't be trusted any more: we fail its job and kill its group. */
  #fail(fault: string, error: Error = this.#unavailable(fault)): void {
    if (this.#hasExited || this.#fault !== undefined) return;
    this.#fault = fault;
    this.#rejectJob(error);
    this.#ready.reject(error);
    this.#child.kill();
  }

  #onExit({ code, signal }: ChildExit): void {
    this.#hasExited = true;
    const how = signal === null ? `ended with exit code ${code ?? 'unknown'}` : `was ended by ${signal}`;
    const reason = this.#fault ?? how;
    const expected = this.#isStopping && this.#fault === undefined;
    if (!expected) this.#logger.error({ reason, stderr: this.#child.stderr.toString() }, 'engine ended');
    this.#rejectJob(this.#unavailable(reason));
    if (!this.#isReady) this.#ready.reject(this.#unavailable(reason));
    this.#exited.resolve(reason);
    this.#options.onEvent?.({ type: 'exit', expected, reason });
  }

  #rejectJob(error: Error): void {
    const job = this.#job;
    this.#job = undefined;
    if (job) this.#endedInJob = true;
    job?.reject(error);
  }

  #unavailable(reason: string): EngineEndedError {
    const { name } = this.#options;
    return new EngineEndedError(
      `The ${name} failed and is being restarted. Try again in a few seconds.`,
      `The ${name} ${reason}.`,
    );
  }
}
