import { execPath, versions } from 'node:process';
import { fileURLToPath } from 'node:url';
import { DomainError, type Logger, type Metrics } from '@media-services/http-common';
import {
  EngineEndedError,
  EngineJobError,
  engineMetrics,
  EngineSupervisor,
  EngineTakenBackError,
  type EngineHealth,
} from '@media-services/processes';
import { z } from 'zod';
import {
  parserResultSchema,
  rejectionSchema,
  type JobKind,
  type JobOf,
  type JobResult,
  type ParserJob,
  type ParserResult,
} from './jobs.js';

/** Parses one whole input in another process. @throws DomainError when it can't be parsed; the signal's reason */
export type Parse = <Kind extends JobKind>(job: JobOf<Kind>, signal: AbortSignal) => Promise<JobResult<Kind>>;

/** Enough for the largest legitimate input. `maxMemoryBytes` limits the whole process. */
const maxHeapMebibytes = 192;
const defaultMaxMemoryBytes = 384 * 1024 ** 2;
/** From Node 22, V8 reserves this much for code. The kernel counts it as data, although it is hardly used. */
const codeRangeBytes = Number.parseInt(versions.node) >= 22 ? 512 * 1024 ** 2 : 0;
/** From the call to the result, including the wait. Only a very busy machine takes this long. */
const jobTimeoutMs = 60_000;
const smallPlaylist = Buffer.from('#EXTM3U\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n');
const readySchema = z.object({ type: z.literal('ready') });

export interface ParserPoolOptions {
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Program of a parser process; tests replace it. */
  readonly script?: string;
  /** Processor time above which we kill a process during its job. On a busy machine, a job may take longer. */
  readonly maxProcessorMs?: number;
  /** Resident memory above which we kill a process during its job. */
  readonly maxMemoryBytes?: number;
  /** Private writable memory that the kernel grants a process (Linux). */
  readonly maxDataBytes?: number;
}

/**
 * Processes that parse untrusted input that arrives whole. They are warm and reused. A process
 * that hangs, grows or crashes is replaced, and only its job fails.
 */
export class ParserPool implements AsyncDisposable {
  readonly #logger: Logger;
  readonly #supervisor: EngineSupervisor<ParserJob, ParserResult, z.output<typeof readySchema>>;

  constructor(options: ParserPoolOptions) {
    const { logger, metrics, script = parserScript, maxProcessorMs = 5000 } = options;
    const { maxMemoryBytes = defaultMaxMemoryBytes, maxDataBytes = defaultMaxMemoryBytes } = options;
    this.#logger = logger;
    this.#supervisor = new EngineSupervisor({
      name: 'parser',
      logger,
      spawn: () => ({ file: execPath, args: [`--max-old-space-size=${maxHeapMebibytes}`, script] }),
      channel: 'ipc',
      readySchema,
      resultSchema: parserResultSchema,
      poolSize: 2,
      // One is enough for most pages. The other one leaves the processor to the engines at the start.
      othersAfterMs: 5000,
      // Slow inputs of one client leave a process for others.
      maxRunningPerClient: 1,
      lendsEngines: true,
      maxQueue: 200,
      readyTimeoutMs: 60_000,
      jobTimeoutMs,
      maxJobProcessorMs: maxProcessorMs,
      // A busy process can't be cancelled, only killed.
      cancelGraceMs: 100,
      killGraceMs: 100,
      recycleAboveBytes: maxMemoryBytes / 2,
      maxMemoryBytes,
      maxDataBytes: maxDataBytes + codeRangeBytes,
      ...(metrics && { onEvent: engineMetrics(metrics, () => this.#supervisor.health(), 'media_parser') }),
      // Processes start quickly, and a file that crashes one must not stop the service.
      backoff: { initialMs: 20, maxMs: 1000 },
    });
  }

  /** Resolves when one process is ready. Jobs may be submitted earlier. */
  async start(): Promise<void> {
    await this.#supervisor.start();
  }

  /** @param client the client that the input belongs to; clients share the processes fairly */
  forClient(client: string): Parse {
    return async <Kind extends JobKind>(job: JobOf<Kind>, signal: AbortSignal) => {
      const { result } = await this.#run(job, client, signal);
      // `#run` checks that the result belongs to this kind of job.
      return result as JobResult<Kind>;
    };
  }

  health(): EngineHealth<unknown> {
    return this.#supervisor.health();
  }

  /** @throws DomainError when a process can't parse a small playlist */
  async selfCheck(signal: AbortSignal): Promise<void> {
    const job = {
      kind: 'playlist',
      bytes: smallPlaylist,
      baseUrl: 'http://localhost/',
      maxSegments: 1,
    } as const;
    await this.#run(job, '', signal);
  }

  /** Process ids of the parsers. */
  pids(): number[] {
    return this.#supervisor.pids();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor[Symbol.asyncDispose]();
  }

  async #run(job: ParserJob, client: string, signal: AbortSignal): Promise<ParserResult> {
    try {
      const result = await this.#supervisor.run(job, { signal, client });
      if (result.job !== job.kind) throw new Error('A parser returned the result of another job.');
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(job.kind, error);
    }
  }

  #failure(kind: JobKind, error: unknown): unknown {
    if (error instanceof EngineJobError) {
      const rejection = rejectionSchema.safeParse(error.payload);
      if (rejection.success) return new DomainError(rejection.data.code, rejection.data.detail);
      this.#logger.error({ job: kind, mistake: error.payload }, 'a parser failed');
      return unreadable(error);
    }
    const isLate =
      error instanceof EngineTakenBackError || (error instanceof DomainError && error.code === 'timeout');
    if (!isLate && !(error instanceof EngineEndedError)) return error;
    this.#logger.warn({ job: kind, reason: error.message, err: error }, "a parser didn't finish its job");
    return isLate ? tooBusy(error) : unreadable(error);
  }
}

function tooBusy(cause: unknown): DomainError {
  const detail = "The service is too busy to read the site's manifest or file header. Try again in 30 s.";
  return new DomainError('overloaded', detail, { cause, retryAfterSeconds: 30 });
}

function unreadable(cause: unknown): DomainError {
  return new DomainError(
    'no_media',
    "The site's manifest or file header is too complex to be read safely. Try another page or format.",
    { cause },
  );
}

const parserScript = fileURLToPath(new URL('parser-process.js', import.meta.url));
