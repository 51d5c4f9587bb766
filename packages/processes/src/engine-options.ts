import { DomainError, type Logger } from '@media-services/http-common';
import type { z } from 'zod';
import type { Claims } from './claims.js';

/** The command that starts one engine process. */
export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the variables that every child gets. The service's own environment is not passed on. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * How messages are sent. `json-lines`: one JSON object per line on stdin and stdout. `ipc`:
 * Node's channel with structured clones, which can carry binary data.
 */
export type ChannelKind = 'json-lines' | 'ipc';

export interface EngineOptions<Result, Ready> {
  /** The engine's name in messages and logs, for example `download engine`. */
  readonly name: string;
  readonly logger: Logger;
  readonly spawn: () => EngineCommand;
  readonly channel: ChannelKind;
  readonly readySchema: z.ZodType<Ready>;
  readonly resultSchema: z.ZodType<Result>;
  /** Engine processes; each does one job at a time. */
  readonly poolSize: number;
  /**
   * The other processes start this long after the first one is ready, or as soon as a job waits; absent: at once;
   * Infinity: not before `startOthers()`.
   */
  readonly othersAfterMs?: number;
  /** Jobs that may wait for a process. Beyond that, we reject the newest job of the client with the most waiting jobs (`overloaded`). */
  readonly maxQueue: number;
  /** Time allowed until `ready`, counted from the start or from the engine's last `starting` message. */
  readonly readyTimeoutMs: number;
  /** Time from the call of `run` to the result, including the wait. */
  readonly jobTimeoutMs: number;
  /** How long a cancelled job may take to stop before we kill its process. */
  readonly cancelGraceMs: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** Restart an idle process after this many jobs; 0 or absent: never. */
  readonly recycleAfterJobs?: number;
  /** Restart an idle process whose resident memory exceeds this; 0 or absent: never. */
  readonly recycleAboveBytes?: number;
  /** Kill a process, with everything it started, whose resident memory exceeds this during a job; 0 or absent: never. */
  readonly maxMemoryBytes?: number;
  /**
   * Kill a process that needs more processor time than this for one job; 0 or absent: never. Where
   * the system doesn't report it, the time since the job's start counts.
   */
  readonly maxJobProcessorMs?: number;
  /** The kernel grants a process no more private writable memory (RLIMIT_DATA, Linux only); absent: no limit. */
  readonly maxDataBytes?: number;
  /** Whether a job that holds up others is interrupted (`EngineTakenBackError`). */
  readonly lendsEngines?: boolean;
  /** Jobs of one client that may run at the same time; absent: no limit. */
  readonly maxRunningPerClient?: number;
  readonly backoff?: { readonly initialMs: number; readonly maxMs: number };
  readonly onEvent?: (event: EngineEvent) => void;
}

export type EngineEvent =
  | { readonly type: 'ready'; readonly startMs: number }
  | { readonly type: 'exit'; readonly expected: boolean; readonly reason: string }
  | { readonly type: 'restart'; readonly delayMs: number }
  | { readonly type: 'recycle'; readonly reason: string }
  | {
      readonly type: 'job';
      readonly outcome: 'ok' | 'failed';
      readonly waitMs: number;
      readonly runMs: number;
    };

/**
 * Receives a job's intermediate result and returns the data the engine continues with. If it
 * fails, so does the job.
 */
export type OnStep = (step: unknown) => Promise<unknown>;

export interface RunOptions {
  /** Cancels the job; `run` rejects with the signal's reason at once. */
  readonly signal: AbortSignal;
  /** Overrides `jobTimeoutMs`. */
  readonly timeoutMs?: number;
  /** The job's owner (`RequestContext.client`). Clients share the engines fairly. */
  readonly client?: string;
  /** Everyone who waits for the job, instead of one client. */
  readonly claims?: Claims;
  /** Handles intermediate results; absent for engines that have none. */
  readonly onStep?: OnStep;
  /** The engine that took the job has left it, which a cancelled one may do later than `run` rejects. */
  readonly onIdle?: () => void;
}

/** The engine reported that the job failed. `payload` is its report, not yet validated. */
export class EngineJobError extends Error {
  override readonly name = 'EngineJobError';
  readonly payload: unknown;

  constructor(engineName: string, payload: unknown) {
    super(`The ${engineName} reported a failed job.`);
    this.payload = payload;
  }
}

/** An engine process ended, or had to be killed, during a job or before it was ready. */
export class EngineEndedError extends DomainError {
  override readonly name: string = 'EngineEndedError';

  constructor(detail: string, reason?: string) {
    super('engine_unavailable', detail, reason === undefined ? {} : { cause: new Error(reason) });
  }
}

/** The job held its process for so long that another client would have had to wait too long. */
export class EngineTakenBackError extends EngineEndedError {
  override readonly name = 'EngineTakenBackError';

  constructor(engineName: string) {
    super(`The ${engineName} was needed for other clients.`);
  }
}

/** A job exceeded the limit of processor time, so its process was killed. */
export class EngineProcessorError extends EngineEndedError {
  override readonly name = 'EngineProcessorError';

  constructor(engineName: string, maxProcessorMs: number) {
    super(`The ${engineName} would have needed more than ${maxProcessorMs / 1000} s of processor time.`);
  }
}

/** A job exceeded the memory limit, so its process was killed. */
export class EngineMemoryError extends EngineEndedError {
  override readonly name = 'EngineMemoryError';

  constructor(engineName: string, maxMemoryBytes: number) {
    const mebibytes = Math.round(maxMemoryBytes / 2 ** 20);
    super(`The ${engineName} would have needed more than ${mebibytes} MiB of memory.`);
  }
}
