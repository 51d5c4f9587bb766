import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { DomainError, garbageCollection, type CheckResult, type Logger } from '@media-services/http-common';
import {
  EngineEndedError,
  EngineJobError,
  EngineSupervisor,
  type EngineCommand,
} from '@media-services/processes';
import { z } from 'zod';
import { MemoryBudget } from './memory-budget.js';
import {
  memoryGranted,
  pixelResultSchema,
  stepSchema,
  type Mask,
  type PixelResult,
  type PixelSettings,
  type PixelTask,
  type View,
} from './task.js';

const readySchema = z.object({ type: z.literal('ready') });
type Ready = z.output<typeof readySchema>;

const readyTimeoutMs = 60_000;
/**
 * A decoder can't be interrupted. A cancelled task may finish its step for this long, then we
 * kill its process.
 */
const cancelGraceMs = 1000;
const killGraceMs = 500;
/**
 * Short, because processes start quickly and a client must not stop the service with images
 * that crash them.
 */
const backoff = { initialMs: 50, maxMs: 500 };

/** Shorter than a process keeps warming up after one `prepare`. */
const warmUpPulseMs = 200;
/** Enough for a process to become warm on a busy machine. */
const warmUpPulses = 150;

export interface PixelPoolOptions {
  readonly processes: number;
  /** Tasks that may wait for a process. */
  readonly maxQueue: number;
  /** Time from the call to the result, including waiting. */
  readonly taskTimeoutMs: number;
  /** Memory that each process may keep between images. */
  readonly processBytes: number;
  /** Memory that all images share in addition. */
  readonly budgetBytes: number;
  readonly warmUpRounds?: PixelSettings['warmUpRounds'];
  readonly memoryTolerance?: PixelSettings['memoryTolerance'];
  readonly logger: Logger;
}

/** A pixel process crashed during a task, perhaps because of the image. */
export class PixelProcessError extends DomainError {
  override readonly name = 'PixelProcessError';

  constructor(cause: DomainError) {
    super(cause.code, cause.message, { cause, retryAfterSeconds: cause.retryAfterSeconds ?? 10 });
  }
}

/** The image takes so much memory, and therefore time, that it must not take the last free process. */
export class LargeImageError extends Error {
  override readonly name = 'LargeImageError';
}

/** More than a photograph of 12 megapixels takes in any format. */
const largeImageBytes = 700 * 1024 ** 2;

/** An image took much more memory than its header lets expect. */
class MemoryExcessError extends DomainError {
  override readonly name = 'MemoryExcessError';

  constructor(limitBytes: number) {
    const mebibytes = Math.round(limitBytes / 1024 ** 2);
    super(
      'image_too_large',
      `The image took more than the ${mebibytes} MiB of memory that an image of its size may take. Scale it down, or save it as a plain PNG.`,
    );
  }
}

/**
 * The processes that decode, cut out and encode images. We use processes instead of threads
 * because native code in a thread can't be stopped at a deadline, and its crash would end the
 * whole service.
 */
export class PixelPool implements AsyncDisposable {
  readonly #supervisor: EngineSupervisor<PixelTask, PixelResult, Ready>;
  readonly #budget: MemoryBudget;
  readonly #processBytes: number;
  #warmUpTimer: NodeJS.Timeout | undefined;

  constructor({
    processes,
    maxQueue,
    taskTimeoutMs,
    processBytes,
    budgetBytes,
    ...options
  }: PixelPoolOptions) {
    const { logger, warmUpRounds, memoryTolerance } = options;
    const settings = {
      maxMemoryBytes: processBytes + budgetBytes,
      keptMemoryBytes: processBytes,
      warmUpRounds,
      memoryTolerance,
    };
    this.#budget = new MemoryBudget(budgetBytes);
    this.#processBytes = processBytes;
    this.#supervisor = new EngineSupervisor({
      name: 'pixel engine',
      logger,
      spawn: () => pixelCommand(settings),
      channel: 'ipc',
      readySchema,
      resultSchema: pixelResultSchema,
      poolSize: processes,
      othersAfterMs: Infinity,
      maxQueue,
      readyTimeoutMs,
      jobTimeoutMs: taskTimeoutMs,
      cancelGraceMs,
      killGraceMs,
      recycleAboveBytes: processBytes,
      backoff,
    });
  }

  /** Starts one process; the others start with {@link warmUp}. Resolves when it is ready. */
  async start(): Promise<void> {
    await this.#supervisor.start();
  }

  /**
   * Starts the other processes and lets all warm up, and later ones too, which takes seconds of CPU
   * time. They stop soon after a task begins in any of them, because its inference needs all cores.
   */
  warmUp(): void {
    this.#supervisor.startOthers();
    let warming: readonly number[] = [];
    let pulses = 0;
    const pulse = (): void => {
      if (this.#supervisor.health().active > 0) return;
      const pids = this.pids();
      if (pids.some((pid) => !warming.includes(pid))) pulses = 0;
      warming = pids;
      if (pulses === warmUpPulses) return;
      pulses += 1;
      this.#supervisor.prepare();
    };
    this.#warmUpTimer ??= setInterval(pulse, warmUpPulseMs).unref();
    pulse();
  }

  /**
   * Waits for memory, decodes an image, gets the masks for the network's views from `maskOf` (two for a small
   * subject), and makes the cut-out.
   * @throws DomainError `overloaded`, `engine_unavailable`, `timeout`, `image_too_large`, `internal_error`
   * @throws LargeImageError unless `mayBeLarge`, before anything is decoded
   * @throws the errors of `maskOf`
   * @throws the signal's reason; the task is then removed from the queue, or its process is
   *   stopped
   */
  async run(
    task: PixelTask,
    maskOf: (view: View) => Promise<Mask>,
    signal: AbortSignal,
    mayBeLarge = true,
  ): Promise<PixelResult> {
    let stepFailure: unknown;
    let giveBack = (): void => undefined;
    const left = new AbortController();
    const reply = async (raw: unknown): Promise<Mask | typeof memoryGranted> => {
      const step = stepSchema.parse(raw);
      if ('rgb' in step) return maskOf(step);
      if ('usedBytes' in step) throw new MemoryExcessError(step.limitBytes);
      if (step.neededBytes > largeImageBytes && !mayBeLarge) throw new LargeImageError();
      const missing = Math.max(0, step.neededBytes - this.#processBytes);
      giveBack = await this.#budget.take(missing, AbortSignal.any([signal, left.signal]));
      return memoryGranted;
    };
    const onStep = async (step: unknown): Promise<Mask | typeof memoryGranted> => {
      try {
        return await reply(step);
      } catch (error) {
        stepFailure = error;
        throw error;
      }
    };
    const onIdle = (): void => {
      left.abort(new Error('The process has left the image.'));
      giveBack();
    };
    try {
      return await this.#supervisor.run(task, { signal, onStep, onIdle });
    } catch (error) {
      if (error === stepFailure) throw error;
      if (error instanceof EngineEndedError) throw new PixelProcessError(error);
      if (!(error instanceof EngineJobError)) throw error;
      throw new DomainError('internal_error', 'The image could not be processed.', { cause: error.payload });
    }
  }

  health(): CheckResult {
    const { status, queueLength, active, restarts, lastError } = this.#supervisor.health();
    return {
      status: status === 'ready' ? 'ok' : status === 'starting' ? 'starting' : 'error',
      queueLength,
      active,
      restarts,
      ...(status === 'failing' && {
        message: `The pixel engine does not start: it ${lastError ?? 'failed'}.`,
      }),
    };
  }

  /** Process ids of the pixel processes. */
  pids(): number[] {
    return this.#supervisor.pids();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#warmUpTimer);
    await this.#supervisor[Symbol.asyncDispose]();
  }
}

function pixelCommand(settings: PixelSettings): EngineCommand {
  const script = fileURLToPath(new URL('./pixel-process.js', import.meta.url));
  return { file: execPath, args: [garbageCollection, '--expose-gc', script, JSON.stringify(settings)] };
}
