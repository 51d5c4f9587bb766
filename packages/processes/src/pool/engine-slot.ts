import { residentMemoryBytes } from '../child/process-usage.js';
import { deferred } from '../deferred.js';
import type { EngineOptions, OnStep } from '../engine-options.js';
import { EngineProcess } from './engine-process.js';

const defaultBackoff = { initialMs: 100, maxMs: 30_000 };

/** One slot of the pool: keeps a process alive in it, restarting with back-off after a crash. */
export class EngineSlot<Job, Result, Ready> {
  readonly #options: EngineOptions<Result, Ready>;
  readonly #onChange: () => void;
  #process: EngineProcess<Job, Result, Ready> | undefined;
  #readyInfo: Ready | undefined;
  #busy = false;
  #recycling = false;
  #mayPrepare = false;
  #idle: Promise<void> = Promise.resolve();
  /** Whether the current process became ready; `#nextStart` is the same for its replacement. */
  #start = deferred<boolean>();
  #nextStart = deferred<boolean>();
  #failedStarts = 0;
  #idleEnds = 0;
  #starts = 0;
  #lastError: string | undefined;
  #stopped = false;
  #wakeUp: (() => void) | undefined;
  #life: Promise<void> | undefined;

  constructor(options: EngineOptions<Result, Ready>, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
  }

  get readyInfo(): Ready | undefined {
    return this.#readyInfo;
  }

  get isFree(): boolean {
    return this.#readyInfo !== undefined && !this.#busy && !this.#recycling && !this.#stopped;
  }

  get isBusy(): boolean {
    return this.#busy;
  }

  /** Consecutive times that the process ended outside a job. */
  get idleEnds(): number {
    return this.#idleEnds;
  }

  /** Consecutive failed starts. */
  get failedStarts(): number {
    return this.#failedStarts;
  }

  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  get lastError(): string | undefined {
    return this.#lastError;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  start(): void {
    this.#life ??= this.#keepAlive();
  }

  /** Tells the process, and every later one, to prepare for its jobs. */
  prepare(): void {
    this.#mayPrepare = true;
    if (this.#readyInfo !== undefined) this.#process?.prepare();
  }

  /** Runs a job on the free process; the slot stays busy until the process is free again. */
  async run(job: Job, signal: AbortSignal, onStep?: OnStep): Promise<Result> {
    const engine = this.#process;
    if (engine === undefined || !this.isFree) throw new Error('The slot is not free.');
    this.#busy = true;
    const { result, idle } = engine.run(job, signal, onStep);
    this.#idle = this.#release(engine, idle);
    return result;
  }

  /** Resolves when the process has finished its last job, including one that was cancelled. */
  whenIdle(): Promise<void> {
    return this.#idle;
  }

  /** Replaces the process when its job is done. @returns whether the new one became ready */
  async recycle(reason: string): Promise<boolean> {
    this.#recycling = true;
    try {
      // Otherwise a process that is still starting would look like one that failed to start.
      await this.#start.promise;
      await this.#idle;
      const started = (this.#nextStart = deferred<boolean>());
      const engine = this.#process;
      if (this.#stopped || engine === undefined) return false;
      this.#noteRecycling(reason);
      await engine.stop();
      return await started.promise;
    } finally {
      this.#recycling = false;
      this.#onChange();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#settleStart(false);
    this.#wakeUp?.();
    await this.#process?.stop();
    await this.#life;
  }

  async #release(engine: EngineProcess<Job, Result, Ready>, idle: Promise<void>): Promise<void> {
    await idle;
    if (!engine.hasExited) {
      this.#failedStarts = 0;
      this.#idleEnds = 0;
      const reason = await this.#recycleReason(engine);
      if (reason !== undefined && !this.#stopped) {
        this.#noteRecycling(reason);
        await engine.stop();
      }
    }
    this.#busy = false;
    this.#onChange();
  }

  #noteRecycling(reason: string): void {
    this.#readyInfo = undefined;
    this.#options.logger.info({ engine: this.#options.name, reason }, 'recycling engine');
    this.#options.onEvent?.({ type: 'recycle', reason });
  }

  async #recycleReason(engine: EngineProcess<Job, Result, Ready>): Promise<string | undefined> {
    const { recycleAfterJobs = 0, recycleAboveBytes = 0 } = this.#options;
    if (recycleAfterJobs > 0 && engine.jobsDone >= recycleAfterJobs) return `${engine.jobsDone} jobs done`;
    if (recycleAboveBytes <= 0) return undefined;
    const bytes = await residentMemoryBytes(engine.pid);
    return bytes !== undefined && bytes > recycleAboveBytes ? `${bytes} bytes of memory in use` : undefined;
  }

  async #keepAlive(): Promise<void> {
    while (!this.#stopped) {
      const delayMs = backoffMs(this.#failedStarts + this.#idleEnds, this.#options.backoff ?? defaultBackoff);
      if (delayMs > 0) await this.#sleep(delayMs);
      if (this.#isStopped()) return;
      if (this.#starts > 0) this.#options.onEvent?.({ type: 'restart', delayMs });
      await this.#live();
    }
  }

  /** Runs one process from start to end. */
  async #live(): Promise<void> {
    this.#starts += 1;
    if (!this.#isStopped()) this.#start = deferred<boolean>();
    const startedAt = performance.now();
    const engine = await this.#startProcess();
    if (engine === undefined) return;
    this.#process = engine;
    if (this.#isStopped()) await engine.stop();
    let wasReady = false;
    try {
      this.#readyInfo = await engine.ready;
      wasReady = true;
      this.#failedStarts = 0;
      this.#settleStart(true);
      if (this.#mayPrepare) engine.prepare();
      this.#options.onEvent?.({ type: 'ready', startMs: performance.now() - startedAt });
      this.#onChange();
    } catch (error) {
      if (!this.#isStopped())
        this.#options.logger.warn({ engine: this.#options.name, err: error }, 'engine did not become ready');
      await engine.stop();
    }
    const reason = await engine.exited;
    const wasRecycled = wasReady && this.#readyInfo === undefined;
    this.#readyInfo = undefined;
    if (!wasRecycled && !this.#isStopped()) {
      if (!wasReady) this.#noteFailedStart();
      // A crash during a job is blamed on the job, so the next job doesn't have to wait for
      // back-off.
      else if (!engine.endedInJob) this.#idleEnds += 1;
      this.#lastError = reason;
    }
    this.#onChange();
  }

  async #startProcess(): Promise<EngineProcess<Job, Result, Ready> | undefined> {
    try {
      return await EngineProcess.start<Job, Result, Ready>(this.#options);
    } catch (error) {
      this.#options.logger.error({ engine: this.#options.name, err: error }, 'engine could not be started');
      this.#noteFailedStart();
      this.#lastError = error instanceof Error ? error.message : String(error);
      this.#onChange();
      return undefined;
    }
  }

  #noteFailedStart(): void {
    this.#failedStarts += 1;
    this.#settleStart(false);
  }

  #settleStart(isReady: boolean): void {
    this.#start.resolve(isReady);
    this.#nextStart.resolve(isReady);
  }

  // A method, because `stop` may have been called during an await, which the compiler cannot see.
  #isStopped(): boolean {
    return this.#stopped;
  }

  async #sleep(ms: number): Promise<void> {
    const awake = deferred<undefined>();
    const timer = setTimeout(() => awake.resolve(undefined), ms);
    this.#wakeUp = () => awake.resolve(undefined);
    await awake.promise;
    clearTimeout(timer);
    this.#wakeUp = undefined;
  }
}

/** Milliseconds to wait before a restart after `failures` failures in a row: doubles up to a maximum. */
function backoffMs(failures: number, limits: { initialMs: number; maxMs: number }): number {
  return failures <= 0 ? 0 : Math.min(limits.maxMs, limits.initialMs * 2 ** (failures - 1));
}
