import type { Machine } from '@media-services/http-common';
import { ModelError } from '../model/model-error.js';
import type { Precision } from './precision.js';

export interface InferenceCapacity {
  readonly processes: number;
  readonly threadsPerProcess: number;
}

/** Beyond this, another core gains little; processing a second image at once gains more. */
const coresPerProcess = 4;
/** The default model at its peak: 549 and 1398 MiB measured. */
const bytesPerProcess: Readonly<Record<Precision, number>> = { int8: 0.6 * 1024 ** 3, fp32: 1.4 * 1024 ** 3 };
/** The service with its pixel processes, before they hold an image. */
const serviceBytes = 0.25 * 1024 ** 3;
/** Share of the memory; the rest is for the service, its images and other programs. */
const memoryShare = 0.5;

/**
 * How many images are processed at once and with how many threads each.
 * @param wanted a number of processes, or `auto`: as many as the machine's cores and memory allow
 */
export function inferenceCapacity(
  wanted: number | 'auto',
  precision: Precision,
  { cores, memoryBytes }: Machine,
): InferenceCapacity {
  const byCores = Math.floor(cores / coresPerProcess);
  const byMemory = Math.floor((memoryBytes * memoryShare) / bytesPerProcess[precision]);
  const processes = wanted === 'auto' ? Math.max(1, Math.min(byCores, byMemory)) : wanted;
  return { processes, threadsPerProcess: Math.max(1, Math.floor(cores / processes)) };
}

/** The least memory that the default model runs in, with one process. */
export function neededBytes(precision: Precision): number {
  return serviceBytes + bytesPerProcess[precision];
}

/** @throws ModelError when the kernel would kill the process that loads the default model */
export function requireMemory(precision: Precision, memoryBytes: number): void {
  const needed = neededBytes(precision);
  if (memoryBytes >= needed) return;
  const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`;
  throw new ModelError(
    `The model needs ${mebibytes(needed)} of memory in ${precision}, but ${mebibytes(memoryBytes)} are available. Raise the limit (BG_REMOVAL_MEMORY under compose)${precision === 'fp32' ? ', or set INFERENCE_PRECISION to int8' : ''}.`,
  );
}
