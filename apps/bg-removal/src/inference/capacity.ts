import os from 'node:os';
import type { Precision } from './precision.js';

export interface Machine {
  /** Available to this process: a container's share, not the host's. */
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface InferenceCapacity {
  readonly processes: number;
  readonly threadsPerProcess: number;
}

/** Beyond this, another core gains little; processing a second image at once gains more. */
const coresPerProcess = 4;
/** The default model at its peak: 549 and 1398 MiB measured. */
const bytesPerProcess: Readonly<Record<Precision, number>> = { int8: 0.6 * 1024 ** 3, fp32: 1.4 * 1024 ** 3 };
/** Share of the memory; the rest is for the service, its images and other programs. */
const memoryShare = 0.5;

/**
 * How many images are processed at once and with how many threads each. Numbers are used as
 * given; `auto` follows from the machine and from the memory that the model's graph takes.
 */
export function inferenceCapacity(
  wanted: { readonly processes: number | 'auto'; readonly threads: number | 'auto' },
  precision: Precision,
  { cores, memoryBytes }: Machine,
): InferenceCapacity {
  const byCores = Math.floor(cores / (wanted.threads === 'auto' ? coresPerProcess : wanted.threads));
  const byMemory = Math.floor((memoryBytes * memoryShare) / bytesPerProcess[precision]);
  const processes = wanted.processes === 'auto' ? Math.max(1, Math.min(byCores, byMemory)) : wanted.processes;
  const threadsPerProcess =
    wanted.threads === 'auto' ? Math.max(1, Math.floor(cores / processes)) : wanted.threads;
  return { processes, threadsPerProcess };
}

export function thisMachine(): Machine {
  // 0, or more than the machine has, when no limit is set.
  const limit = process.constrainedMemory();
  const total = os.totalmem();
  return { cores: os.availableParallelism(), memoryBytes: limit > 0 ? Math.min(limit, total) : total };
}
