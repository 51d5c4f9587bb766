import { DomainError, type Logger } from '@media-services/http-common';
import type { z } from 'zod';

/** The command that starts one engine process. */
export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Added to what every child gets: nothing of the service's own environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/**
 * How messages travel. `json-lines`: one JSON object a line on stdin and stdout.
 * `ipc`: Node's channel with structured clones, so that binary data passes.
 */
export type ChannelKind = 'json-lines' | 'ipc';

export interface EngineOptions<Result, Ready> {
  /** What messages and logs call the engine, for example `download engine`. */
  readonly name: string;
  readonly logger: Logger;
  readonly spawn: () => EngineCommand;
  readonly channel: ChannelKind;
  readonly readySchema: z.ZodType<Ready>;
  readonly resultSchema: z.ZodType<Result>;
  /** Engine processes; each does one job at a time. */
  readonly poolSize: number;
  /** Jobs that may wait for a process; of more, the newest of the client that has the most waiting is refused as `overloaded`. */
  readonly maxQueue: number;
  /** From the start, or the last `starting` that an engine sends between its steps, to `ready`. */
  readonly readyTimeoutMs: number;
  /** From the call of `run` to the answer, waiting included. */
  readonly jobTimeoutMs: number;
  /** How long a cancelled job may take to end by itself before its process is killed. */
  readonly cancelGraceMs: number;
  /** From SIGTERM to SIGKILL of the process group. */
  readonly killGraceMs: number;
  /** Restart an idle process after so many jobs; 0 or absent: never. */
  readonly recycleAfterJobs?: number;
  /** Restart an idle process whose resident memory is above so many bytes; 0 or absent: never. */
  readonly recycleAboveBytes?: number;
  /** Kill a process, with what it started, that takes more resident memory in the middle of a job; 0 or absent: never. */
  readonly maxMemoryBytes?: number;
  /** Jobs of one client that may run at the same time; absent: as many as there are processes. */
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

/** Takes what an engine hands out half-way through a job, and gives what it goes on with; a failure ends the job. */
export type OnStep = (step: unknown) => Promise<unknown>;

/** The engine answered that the job failed; `payload` is what it said, still to be validated. */
export class EngineJobError extends Error {
  override readonly name = 'EngineJobError';
  readonly payload: unknown;

  constructor(engineName: string, payload: unknown) {
    super(`The ${engineName} reported a failed job.`);
    this.payload = payload;
  }
}

/** An engine process ended, or had to be killed, in the middle of a job or before it was ready. */
export class EngineEndedError extends DomainError {
  override readonly name: string = 'EngineEndedError';

  constructor(detail: string, reason?: string) {
    super('engine_unavailable', detail, reason === undefined ? {} : { cause: new Error(reason) });
  }
}

/** A job needed more memory than an engine may take; its process was killed. */
export class EngineMemoryError extends EngineEndedError {
  override readonly name = 'EngineMemoryError';

  constructor(engineName: string, maxMemoryBytes: number) {
    const mebibytes = Math.round(maxMemoryBytes / 2 ** 20);
    super(`The ${engineName} would have needed more than ${mebibytes} MiB of memory.`);
  }
}
