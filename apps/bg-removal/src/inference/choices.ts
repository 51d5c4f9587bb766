import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Machine } from '@media-services/http-common';
import { execa } from 'execa';
import { ModelError } from '../model/manifest.js';

export const precisions = ['int8', 'fp32'] as const;
export type Precision = (typeof precisions)[number];
export const precisionSettings = ['auto', ...precisions] as const;

/**
 * Chooses which graph of the model to run.
 * @throws ModelError if int8 is requested and the model or device does not support it
 */
export function choosePrecision(
  wanted: (typeof precisionSettings)[number],
  {
    hasInt8Graph,
    onCpu,
    hasAvx2,
    fitsFp32,
  }: { hasInt8Graph: boolean; onCpu: boolean; hasAvx2: boolean; fitsFp32: boolean },
): Precision {
  if (wanted === 'int8' && !(hasInt8Graph && onCpu)) {
    throw new ModelError(
      `INFERENCE_PRECISION is int8, but ${hasInt8Graph ? 'the int8 graph runs on a CPU only' : 'this model has no int8 graph'}. Set it to auto or fp32.`,
    );
  }
  if (wanted !== 'auto') return wanted;
  return hasInt8Graph && onCpu && (hasAvx2 || !fitsFp32) ? 'int8' : 'fp32';
}

/**
 * Whether this is an x86-64 processor with AVX2. On these we measured int8 to be 1.8 times as
 * fast as fp32, and three times with VNNI. We have not measured other processors.
 */
export async function hasAvx2(): Promise<boolean> {
  try {
    return /^flags\s*:.*\bavx2\b/m.test(await readFile('/proc/cpuinfo', 'utf8'));
  } catch {
    // Not Linux.
    return false;
  }
}

export const deviceSettings = ['auto', 'cpu', 'cuda'] as const;
export type Device = 'cpu' | 'cuda';

/** Returns why the graph cannot run on the GPU, or undefined if it can. */
export type CudaProbe = (graphPath: string, signal: AbortSignal) => Promise<string | undefined>;

const probeTimeoutMs = 60_000;

/**
 * Chooses the device for the network. `auto` uses a working GPU; `cuda` never falls back to the
 * CPU.
 * @throws ModelError if `cuda` is requested and does not work
 */
export async function chooseDevice(
  wanted: (typeof deviceSettings)[number],
  graphPath: string,
  probe: CudaProbe,
  signal: AbortSignal,
): Promise<Device> {
  if (wanted === 'cpu') return 'cpu';
  const obstacle = await probe(graphPath, signal);
  if (obstacle === undefined) return 'cuda';
  if (wanted === 'auto') return 'cpu';
  throw new ModelError(
    `INFERENCE_DEVICE is cuda, but the model cannot run there (${obstacle}). It needs an NVIDIA driver, CUDA 12 with cuDNN 9 and onnxruntime's library for them; see docs/models.md. Set INFERENCE_DEVICE to auto or cpu to run on the CPU.`,
  );
}

/** The driver's devices, also in containers and under WSL. */
const nvidiaDevices = ['/dev/nvidiactl', '/dev/dxg'];

/** Tries CUDA in a separate process, because loading it can crash. */
export async function probeCuda(graphPath: string, signal: AbortSignal): Promise<string | undefined> {
  if (process.platform === 'linux' && !nvidiaDevices.some((path) => existsSync(path))) {
    return 'no NVIDIA device';
  }
  const script = fileURLToPath(new URL('cuda-probe.js', import.meta.url));
  const result = await execa(process.execPath, [script, graphPath], {
    reject: false,
    timeout: probeTimeoutMs,
    cancelSignal: signal,
  });
  signal.throwIfAborted();
  if (result.exitCode === 0) return undefined;
  return result.stdout.trim() || 'the attempt crashed';
}

export interface InferenceCapacity {
  readonly processes: number;
  readonly threadsPerProcess: number;
}

/** Beyond this, another core helps little; processing a second image in parallel helps more. */
const coresPerProcess = 4;
/** Peak memory of the default model: 549 and 1398 MiB measured. */
const bytesPerProcess: Readonly<Record<Precision, number>> = { int8: 0.6 * 1024 ** 3, fp32: 1.4 * 1024 ** 3 };
/** Memory of the service and its pixel processes without images. */
const serviceBytes = 0.25 * 1024 ** 3;
/** Share of the memory for inference; the rest is for the service, its images and other programs. */
const memoryShare = 0.5;

/**
 * How many images to process at once, and with how many threads each.
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

/** Peak memory of all inference processes. */
export function inferenceBytes({ processes }: InferenceCapacity, precision: Precision): number {
  return processes * bytesPerProcess[precision];
}

/** The minimum memory to run the default model with one process. */
export function neededBytes(precision: Precision): number {
  return serviceBytes + bytesPerProcess[precision];
}

/** @throws ModelError if the kernel would kill the process that loads the default model */
export function requireMemory(precision: Precision, memoryBytes: number): void {
  const needed = neededBytes(precision);
  if (memoryBytes >= needed) return;
  const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`;
  throw new ModelError(
    `The model needs ${mebibytes(needed)} of memory in ${precision}, but ${mebibytes(memoryBytes)} are available. Raise the limit (BG_REMOVAL_MEMORY under compose)${precision === 'fp32' ? ', or set INFERENCE_PRECISION to int8' : ''}.`,
  );
}
