/** Tasks of a client inside; each is one JSON argument of client.mjs. */
export type Task = RequestsTask | DownloadTask | PollTask;

/** One request `count` times, several at once. */
export interface RequestsTask {
  readonly task: 'requests';
  readonly path: string;
  readonly count?: number;
  readonly concurrency?: number;
  /** File to upload; without it, the request is a GET. */
  readonly picture?: string;
  /** Form fields to send; without them, the request is a GET. */
  readonly form?: Record<string, string>;
  /** Beginning of the request ids. */
  readonly id: string;
  readonly headers?: Record<string, string>;
  /** When to send the first, in milliseconds of Unix time; by default at once. */
  readonly notBefore?: number;
}

/** A stream into a file. */
export interface DownloadTask {
  readonly task: 'download';
  readonly path: string;
  readonly to: string;
  readonly id: string;
  /** Unlimited by default. */
  readonly bytesPerSecond?: number;
}

/** Repeats the same GET for so many seconds. */
export interface PollTask {
  readonly task: 'poll';
  readonly path: string;
  readonly seconds: number;
}

export interface Answer {
  /** 0 without a response; `error` then says why. */
  readonly status: number;
  readonly ms: number;
  /** When it arrived, in milliseconds of Unix time. */
  readonly at: number;
  readonly error?: string;
  readonly type?: string | null;
  readonly retryAfter?: string | null;
  readonly bytes?: number;
  /** The first 32 bytes, in hexadecimal. */
  readonly start?: string;
  readonly json?: unknown;
}

export interface Download {
  readonly status: number;
  readonly bytes: number;
  readonly seconds: number;
  /** What the protocol says, not what the file looks like. */
  readonly complete: boolean;
  readonly error?: string;
}

export interface Poll {
  readonly total: number;
  readonly slowestMs: number;
  readonly failures: readonly Answer[];
}
