import os from 'node:os';

export interface Machine {
  /** That this process may use: a container's share, not the host's. */
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface InferenceCapacity {
  readonly processes: number;
  readonly threadsPerProcess: number;
}

/** Beyond this a network gains little from another core, and a second image at once gains more. */
const coresPerProcess = 4;
/** The single-precision network at its peak; the eight-bit one takes less than half of it. */
const bytesPerProcess = 1.4 * 1024 ** 3;
/** Of the memory; the rest is for the service, its pictures and others on the machine. */
const memoryShare = 0.5;

/**
 * How many images are in work at once and with how many threads each. What is given is
 * taken; `auto` follows from the machine.
 */
export function inferenceCapacity(
  wanted: { readonly processes: number | 'auto'; readonly threads: number | 'auto' },
  { cores, memoryBytes }: Machine,
): InferenceCapacity {
  const byCores = Math.floor(cores / (wanted.threads === 'auto' ? coresPerProcess : wanted.threads));
  const byMemory = Math.floor((memoryBytes * memoryShare) / bytesPerProcess);
  const processes = wanted.processes === 'auto' ? Math.max(1, Math.min(byCores, byMemory)) : wanted.processes;
  const threadsPerProcess =
    wanted.threads === 'auto' ? Math.max(1, Math.floor(cores / processes)) : wanted.threads;
  return { processes, threadsPerProcess };
}

export function thisMachine(): Machine {
  // 0 or more than there is where no limit is set.
  const limit = process.constrainedMemory();
  const total = os.totalmem();
  return { cores: os.availableParallelism(), memoryBytes: limit > 0 ? Math.min(limit, total) : total };
}
