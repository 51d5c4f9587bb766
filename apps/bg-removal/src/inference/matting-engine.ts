import { execPath } from 'node:process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  EngineJobError,
  engineMetrics,
  EngineSupervisor,
  type EngineCommand,
} from '@media-services/processes';
import {
  DomainError,
  thisMachine,
  type CheckResult,
  type Logger,
  type Metrics,
} from '@media-services/http-common';
import type { BgRemovalConfig } from '../config.js';
import { modelsDirOf } from '../config.js';
import {
  inferenceReadySchema,
  inferenceResultSchema,
  type InferenceJob,
  type InferenceReady,
  type InferenceResult,
  type InferenceSettings,
} from './job.js';
import {
  chooseDevice,
  choosePrecision,
  type Device,
  hasAvx2,
  type InferenceCapacity,
  neededBytes,
  type Precision,
  probeCuda,
  requireMemory,
} from './choices.js';
import { defaultModelId, locateModel } from '../model/known-models.js';
import { ModelError, type ModelManifest, ModelMissingError, readManifest } from '../model/manifest.js';
import { verifyModel } from '../model/verify-model.js';

const missingModelPollMs = 2000;
/** Limit for loading the model, and again for its first run, which takes about as long as one image. */
const minReadyTimeoutMs = 120_000;
/** An inference can't be interrupted, so we let a cancelled one finish for at most this long. */
const maxCancelGraceMs = 20_000;
/** We replace an idle process that uses more memory. */
const recycleAboveBytes = 2 * 1024 ** 3;
const killGraceMs = 2000;

export interface MattingEngineOptions {
  readonly config: BgRemovalConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly capacity: InferenceCapacity;
  /** Command that starts the inference process; replaced in tests of its failures. */
  readonly command?: (settings: InferenceSettings) => EngineCommand;
}

type Supervisor = EngineSupervisor<InferenceJob, InferenceResult, InferenceReady>;

/** One graph of the verified model, with the device that runs it. */
interface ChosenModel {
  readonly manifest: ModelManifest;
  readonly graphPath: string;
  readonly graphSha256: string;
  readonly precision: Precision;
  readonly device: Device;
}

/** Runs the verified model in warm, supervised processes. */
export class MattingEngine implements AsyncDisposable {
  readonly #options: MattingEngineOptions;
  #model: ChosenModel | undefined;
  #supervisor: Supervisor | undefined;
  #failure: string | undefined;
  readonly #disposal = new AbortController();

  constructor(options: MattingEngineOptions) {
    this.#options = options;
  }

  /** @throws DomainError `engine_unavailable` */
  assertReady(): void {
    this.#ready();
  }

  /** The size of the images that {@link run} takes. */
  get inputSize(): InferenceSettings['inputSize'] {
    return this.#ready().model.manifest.inputSize;
  }

  /**
   * Verifies the model and warms up the processes. Reports errors in {@link health} and the
   * log. Waits for a missing model, because another container may be downloading it.
   */
  async start(): Promise<void> {
    const { logger } = this.#options;
    try {
      this.#model = await this.#awaitModel();
    } catch (error) {
      if (this.#isDisposed()) return;
      if (!(error instanceof ModelError)) throw error;
      this.#fail(error);
      return;
    }
    if (this.#isDisposed()) return;
    this.#failure = undefined;
    this.#supervisor = this.#supervise(this.#model);
    await this.#supervisor.start();
    const ready = this.#supervisor.health().ready;
    logger.info({ ...this.#description(this.#model), ...ready }, 'the model is warm');
    if (this.#model.manifest.licence === 'unstated') {
      logger.warn('the licence of the model’s weights is unknown: clarify it before commercial use');
    }
  }

  /**
   * @throws DomainError `overloaded`, `engine_unavailable`, `timeout`
   * @throws the signal's reason
   */
  async run(job: InferenceJob, signal: AbortSignal): Promise<InferenceResult> {
    try {
      return await this.#ready().supervisor.run(job, { signal });
    } catch (error) {
      if (!(error instanceof EngineJobError)) throw error;
      throw new DomainError('internal_error', 'The network failed on this image.', {
        cause: error.payload,
      });
    }
  }

  health(): CheckResult {
    if (this.#failure !== undefined)
      return { status: 'error', model: this.#options.config.MODEL, message: this.#failure };
    if (this.#model === undefined || this.#supervisor === undefined) {
      return { status: 'starting', model: this.#options.config.MODEL };
    }
    const { status, ready, queueLength, active, restarts, lastError } = this.#supervisor.health();
    const failed = status === 'failing';
    return {
      status: failed ? 'error' : status === 'starting' ? 'starting' : 'ok',
      ...this.#description(this.#model),
      ...(ready && { loadMs: Math.round(ready.loadMs), warmUpMs: Math.round(ready.warmUpMs) }),
      queueLength,
      active,
      restarts,
      ...(failed && {
        message: `The inference process does not start: it ${lastError ?? 'failed'}. See the log.`,
      }),
    };
  }

  /** Process ids of the inference processes. */
  pids(): number[] {
    return this.#supervisor?.pids() ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await this.#supervisor?.[Symbol.asyncDispose]();
  }

  #isDisposed(): boolean {
    return this.#disposal.signal.aborted;
  }

  #ready(): { model: ChosenModel; supervisor: Supervisor } {
    if (this.#model !== undefined && this.#supervisor !== undefined) {
      return { model: this.#model, supervisor: this.#supervisor };
    }
    const why =
      this.#failure === undefined ? 'is still being loaded. Try again in a few seconds' : 'cannot be used';
    throw new DomainError('engine_unavailable', `The model ${why}.`, { retryAfterSeconds: 10 });
  }

  async #awaitModel(): Promise<ChosenModel> {
    for (;;) {
      try {
        return await this.#chooseModel();
      } catch (error) {
        if (!(error instanceof ModelMissingError) || this.#isDisposed()) throw error;
        if (this.#failure === undefined) this.#fail(error);
      }
      await delay(missingModelPollMs, undefined, { signal: this.#disposal.signal });
    }
  }

  #fail(error: ModelError): void {
    this.#failure = error.message;
    this.#options.logger.fatal({ err: error }, `the model cannot be used: ${error.message}`);
  }

  /** @throws ModelError */
  async #chooseModel(): Promise<ChosenModel> {
    const { config } = this.#options;
    const { folder, manifest } = await verifyModel(locateModel(config.MODEL, modelsDirOf(config)));
    const { signal } = this.#disposal;
    const device = await chooseDevice(
      config.INFERENCE_DEVICE,
      path.join(folder, manifest.graph),
      probeCuda,
      signal,
    );
    const { memoryBytes } = thisMachine();
    const precision = choosePrecision(config.INFERENCE_PRECISION, {
      hasInt8Graph: manifest.int8Graph !== undefined,
      onCpu: device === 'cpu',
      hasAvx2: await hasAvx2(),
      fitsFp32: memoryBytes >= neededBytes('fp32'),
    });
    if (manifest.id === defaultModelId) requireMemory(precision, memoryBytes);
    const graph = (precision === 'int8' ? manifest.int8Graph : undefined) ?? manifest.graph;
    return {
      manifest,
      graphPath: path.join(folder, graph),
      graphSha256: manifest.files[graph] ?? '',
      precision,
      device,
    };
  }

  #description({ manifest, graphSha256, precision, device }: ChosenModel): Record<string, unknown> {
    const { processes, threadsPerProcess } = this.#options.capacity;
    return {
      model: manifest.id,
      sha256: graphSha256,
      licence: manifest.licence,
      precision,
      device,
      processes,
      threadsPerProcess,
    };
  }

  #supervise({ manifest, graphPath, device }: ChosenModel): Supervisor {
    const { config, logger, metrics, capacity, command = inferenceCommand } = this.#options;
    const settings: InferenceSettings = {
      graphPath,
      inputSize: manifest.inputSize,
      mean: manifest.mean,
      std: manifest.std,
      activation: manifest.activation,
      outputName: manifest.outputName,
      threads: capacity.threadsPerProcess,
      device,
    };
    return new EngineSupervisor({
      name: 'inference engine',
      logger,
      spawn: () => command(settings),
      channel: 'ipc',
      readySchema: inferenceReadySchema,
      resultSchema: inferenceResultSchema,
      poolSize: capacity.processes,
      maxQueue: config.IMAGE_QUEUE_MAX,
      readyTimeoutMs: Math.max(minReadyTimeoutMs, config.IMAGE_TIMEOUT_SECONDS * 1000),
      jobTimeoutMs: config.IMAGE_TIMEOUT_SECONDS * 1000,
      cancelGraceMs: Math.min(maxCancelGraceMs, config.IMAGE_TIMEOUT_SECONDS * 1000),
      killGraceMs,
      recycleAboveBytes,
      onEvent: engineMetrics(metrics, () => this.#supervisor?.health()),
    });
  }
}

/**
 * Estimates the model's precision before we verify it and look for a GPU, because the number of
 * processes that fit into memory depends on it. Returns fp32, the larger one, if the model
 * can't be read.
 */
export async function expectedPrecision(config: BgRemovalConfig): Promise<Precision> {
  try {
    const { folder } = locateModel(config.MODEL, modelsDirOf(config));
    const { int8Graph } = await readManifest(folder);
    return choosePrecision(config.INFERENCE_PRECISION, {
      hasInt8Graph: int8Graph !== undefined,
      onCpu: config.INFERENCE_DEVICE !== 'cuda',
      hasAvx2: await hasAvx2(),
      fitsFp32: thisMachine().memoryBytes >= neededBytes('fp32'),
    });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return 'fp32';
  }
}

function inferenceCommand(settings: InferenceSettings): EngineCommand {
  const script = fileURLToPath(new URL('./inference-process.js', import.meta.url));
  return { file: execPath, args: [script, JSON.stringify(settings)] };
}
