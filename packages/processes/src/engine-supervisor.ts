import { DomainError, withDeadline } from '@media-services/http-common';
import { deferred } from './deferred.js';
import { EngineTakenBackError, type EngineOptions, type OnStep, type RunOptions } from './engine-options.js';
import { Claims } from './claims.js';
import { FairQueue, interruptedMs, type Running } from './fair-queue.js';
import { EngineSlot } from './pool/engine-slot.js';

/** A job that waits for a free engine. */
interface WaitingJob<Engine> {
  readonly claims: Claims;
  readonly start: (engine: Engine, client: string) => void;
  readonly reject: (error: Error) => void;
}

/** A job that has an engine. */
interface RunningJob extends Running {
  interrupt(): void;
}

/** How often we check whether a job must make way. */
const checkMs = 250;

interface RunDetails {
  readonly signal: AbortSignal;
  readonly queuedAt: number;
  readonly onStep: OnStep | undefined;
  readonly onIdle: (() => void) | undefined;
  readonly client: string;
  readonly claims: Claims;
}

/** After this many failed starts in a row, jobs are rejected instead of queued. */
const failuresBeforeRejecting = 3;

export interface EngineHealth<Ready> {
  readonly status: 'starting' | 'ready' | 'failing';
  /** The handshake of a ready engine. */
  readonly ready: Ready | undefined;
  readonly enginesReady: number;
  /** Processes that didn't start, or ended without a job, and aren't back yet. */
  readonly enginesFailing: number;
  readonly poolSize: number;
  readonly queueLength: number;
  readonly active: number;
  readonly restarts: number;
  readonly lastError: string | undefined;
}

/**
 * Keeps a pool of warm engine processes and gives each one job at a time. It has a bounded
 * queue, deadlines and cancellation, restarts crashed processes and recycles used ones.
 */
export class EngineSupervisor<Job, Result, Ready> implements AsyncDisposable {
  readonly #options: EngineOptions<Result, Ready>;
  readonly #slots: EngineSlot<Job, Result, Ready>[];
  readonly #queue: FairQueue<WaitingJob<EngineSlot<Job, Result, Ready>>>;
  readonly #firstReady = deferred<undefined>();
  readonly #running = new Set<RunningJob>();
  #checkTimer: NodeJS.Timeout | undefined;
  #averageRunMs = 1000;
  #othersMayStart: boolean;
  #othersTimer: NodeJS.Timeout | undefined;
  #draining = false;

  constructor(options: EngineOptions<Result, Ready>) {
    this.#options = options;
    const { maxRunningPerClient = options.poolSize, othersAfterMs = 0 } = options;
    this.#othersMayStart = othersAfterMs === 0;
    this.#queue = new FairQueue((client, queue) => queue.runningOf(client) < maxRunningPerClient);
    this.#slots = Array.from(
      { length: options.poolSize },
      () => new EngineSlot(options, () => this.#onChange()),
    );
    // `start` may never have been called when the pool is disposed.
    this.#firstReady.promise.catch(() => undefined);
  }

  /**
   * Starts one engine, which is then ready sooner, and the others later. Resolves when one is
   * ready. Crashes are retried with back-off until then.
   */
  async start(signal?: AbortSignal): Promise<void> {
    this.#slots[0]?.start();
    const onAbort = (): void => this.#firstReady.reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    await this.#firstReady.promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  /** Starts the other engines once the first one is ready, without their delay. */
  startOthers(): void {
    this.#othersMayStart = true;
    this.#startOthersIfDue();
  }

  /**
   * Lets every process, and later ones as soon as they are ready, prepare for its jobs. Call it
   * when nothing more urgent needs the processor.
   */
  prepare(): void {
    for (const slot of this.#slots) slot.prepare();
  }

  /**
   * Runs a job on the next free engine.
   * @throws EngineJobError when the engine reports that the job failed
   * @throws DomainError `overloaded` (queue full, or waited until the deadline),
   *   `engine_unavailable` (crash, invalid response, draining), `timeout`
   * @throws the signal's reason
   */
  async run(job: Job, options: RunOptions): Promise<Result> {
    options.signal.throwIfAborted();
    const unavailability = this.#unavailability();
    if (unavailability !== undefined) throw unavailability;

    const timeoutMs = options.timeoutMs ?? this.#options.jobTimeoutMs;
    const queuedAt = performance.now();
    let started = false;
    const late = () => (started ? this.#timeoutError(timeoutMs) : this.#overloadedError());
    const { onStep, onIdle, claims = Claims.of(options.client ?? '') } = options;
    return withDeadline({ timeoutMs, signal: options.signal, late }, async (signal) => {
      const runOn = async (slot: EngineSlot<Job, Result, Ready>, client: string): Promise<Result> => {
        started = true;
        return this.#runOn(slot, job, { signal, queuedAt, onStep, onIdle, client, claims });
      };
      const slot = this.#slots.find(({ isFree }) => isFree);
      const client = [...claims].find((each) => this.#queue.mayRun(each.client))?.client;
      if (slot !== undefined && client !== undefined) return runOn(slot, client);
      return this.#whenFree(runOn, signal, claims);
    });
  }

  health(): EngineHealth<Ready> {
    const ready = this.#slots.filter((slot) => slot.readyInfo !== undefined);
    const failing = this.#slots.filter(
      (slot) => slot.readyInfo === undefined && (slot.failedStarts > 0 || slot.idleEnds > 0),
    );
    return {
      status: ready.length > 0 ? 'ready' : failing.length > 0 ? 'failing' : 'starting',
      ready: ready[0]?.readyInfo,
      enginesReady: ready.length,
      enginesFailing: failing.length,
      poolSize: this.#slots.length,
      queueLength: this.#queue.waiting,
      active: this.#slots.filter((slot) => slot.isBusy).length,
      restarts: this.#slots.reduce((sum, slot) => sum + slot.restarts, 0),
      lastError: this.#slots.map((slot) => slot.lastError).findLast((error) => error !== undefined),
    };
  }

  /**
   * Replaces every process, one by one and between jobs, so that no job is lost. Resolves when
   * all new processes are ready.
   * @throws DomainError `engine_unavailable` if a new process doesn't become ready; the
   *   remaining old ones keep running
   */
  async recycle(reason: string): Promise<void> {
    for (const slot of this.#slots) {
      if (!(await slot.recycle(reason))) throw this.#unavailableError('does not start');
    }
  }

  /** Process ids of the engines; each leads its process group. */
  pids(): number[] {
    return this.#slots.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Rejects new jobs from now on; running and waiting ones continue. */
  drain(): void {
    this.#draining = true;
  }

  /** Terminates every engine's process group; unfinished jobs fail as `engine_unavailable`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.drain();
    clearTimeout(this.#othersTimer);
    clearTimeout(this.#checkTimer);
    const error = this.#unavailableError('is shutting down');
    this.#firstReady.reject(error);
    this.#rejectWaiting(error);
    await Promise.all(this.#slots.map((slot) => slot.stop()));
  }

  async #runOn(
    slot: EngineSlot<Job, Result, Ready>,
    job: Job,
    { signal, queuedAt, onStep, onIdle, client, claims }: RunDetails,
  ): Promise<Result> {
    const startedAt = performance.now();
    const report = (outcome: 'ok' | 'failed'): void => {
      const runMs = performance.now() - startedAt;
      if (outcome === 'ok') this.#averageRunMs += (runMs - this.#averageRunMs) * 0.2;
      this.#options.onEvent?.({ type: 'job', outcome, waitMs: startedAt - queuedAt, runMs });
    };
    const interruption = new AbortController();
    const run = this.#queue.start(client, claims);
    const running: RunningJob = {
      ...run,
      interrupt: () => {
        this.#running.delete(running);
        interruption.abort(new EngineTakenBackError(this.#options.name));
      },
    };
    this.#running.add(running);
    const result = slot.run(job, AbortSignal.any([signal, interruption.signal]), onStep);
    void slot.whenIdle().then(() => {
      this.#running.delete(running);
      run.end(interruption.signal.aborted ? interruptedMs : undefined);
      onIdle?.();
      this.#onChange();
    });
    try {
      const value = await result;
      report('ok');
      return value;
    } catch (error) {
      report('failed');
      throw error;
    }
  }

  /**
   * Waits in the queue. The job starts in the same event loop turn that frees the slot, so no
   * other job can take it.
   */
  async #whenFree(
    runOn: (slot: EngineSlot<Job, Result, Ready>, client: string) => Promise<Result>,
    signal: AbortSignal,
    claims: Claims,
  ): Promise<Result> {
    const turn = deferred<Promise<Result>>();
    const waiting: WaitingJob<EngineSlot<Job, Result, Ready>> = {
      claims,
      start: (slot, client) => turn.resolve(runOn(slot, client)),
      reject: turn.reject,
    };
    const onAbort = (): void => {
      this.#queue.remove(waiting);
      turn.reject(signal.reason);
    };
    this.#queue.add(waiting);
    this.#makeRoom(claims);
    claims.onJoin = () => {
      this.#makeRoom(claims);
      this.#onChange();
    };
    this.#startOthersIfDue();
    signal.addEventListener('abort', onAbort, { once: true });
    // A newcomer may be the reason to interrupt a job.
    this.#onChange();
    return turn.promise.finally(() => {
      claims.onJoin = () => undefined;
      signal.removeEventListener('abort', onAbort);
    });
  }

  /** Removes the worst-ranked client from a full queue. */
  #makeRoom(claims: Claims): void {
    const newcomer = [...claims].at(-1);
    if (newcomer === undefined || this.#queue.waiting <= this.#options.maxQueue) return;
    const error = this.#overloadedError();
    this.#queue.evict(newcomer, error)?.reject(error);
  }

  #rejectWaiting(error: Error): void {
    for (const waiting of this.#queue.removeAll()) waiting.reject(error);
  }

  #onChange(): void {
    if (this.#slots.some(({ readyInfo }) => readyInfo !== undefined)) this.#firstReady.resolve(undefined);
    this.#startOthersIfDue();
    const unavailability = this.#draining ? undefined : this.#unavailability();
    if (unavailability !== undefined) {
      this.#rejectWaiting(unavailability);
      return;
    }
    for (const slot of this.#slots) {
      if (!slot.isFree) continue;
      const next = this.#queue.take();
      next?.entry.start(slot, next.client);
    }
    this.#interruptIfDue();
  }

  /** An engine is lent, not owned: a job that holds up others gives it back. */
  #interruptIfDue(): void {
    clearTimeout(this.#checkTimer);
    if (this.#options.lendsEngines !== true || this.#queue.waiting === 0) return;
    const isReturning = this.#slots.filter(({ isBusy }) => isBusy).length > this.#running.size;
    if (!isReturning) this.#queue.toInterrupt(this.#running)?.interrupt();
    this.#checkTimer = setTimeout(() => this.#interruptIfDue(), checkMs);
  }

  /** Once the first engine has started or failed to. */
  #startOthersIfDue(): void {
    const [first, ...others] = this.#slots;
    if (this.#draining || first === undefined) return;
    if (first.readyInfo === undefined && first.failedStarts === 0) return;
    const { othersAfterMs = 0 } = this.#options;
    if (this.#othersMayStart || (this.#queue.waiting > 0 && othersAfterMs !== Infinity)) {
      for (const slot of others) slot.start();
    } else if (othersAfterMs !== Infinity) {
      this.#othersTimer ??= setTimeout(() => this.startOthers(), othersAfterMs);
    }
  }

  /** Why the pool can't accept any job, if it can't. */
  #unavailability(): DomainError | undefined {
    if (this.#draining) return this.#unavailableError('is shutting down');
    const hopeless = this.#slots.every(
      (slot) => slot.readyInfo === undefined && slot.failedStarts >= failuresBeforeRejecting,
    );
    return hopeless ? this.#unavailableError('does not start') : undefined;
  }

  #unavailableError(why: string): DomainError {
    return new DomainError(
      'engine_unavailable',
      `The ${this.#options.name} ${why}. Try again in a few seconds.`,
      {
        retryAfterSeconds: 10,
      },
    );
  }

  #timeoutError(timeoutMs: number): DomainError {
    return new DomainError(
      'timeout',
      `The ${this.#options.name} did not finish within ${timeoutMs / 1000} s. Try again later or with smaller input.`,
    );
  }

  #overloadedError(): DomainError {
    const jobsAhead = this.#queue.waiting + this.#slots.length;
    const retryAfterSeconds = Math.min(
      120,
      Math.ceil((jobsAhead * this.#averageRunMs) / this.#slots.length / 1000),
    );
    return new DomainError(
      'overloaded',
      `The queue of the ${this.#options.name} is full. Try again in ${retryAfterSeconds} s.`,
      { retryAfterSeconds },
    );
  }
}
