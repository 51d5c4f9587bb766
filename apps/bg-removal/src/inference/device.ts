import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { ModelError } from '../model/model-error.js';

export const deviceSettings = ['auto', 'cpu', 'cuda'] as const;
export type Device = 'cpu' | 'cuda';

/** Why the graph cannot run on the GPU; undefined when it can. */
export type CudaProbe = (graphPath: string, signal: AbortSignal) => Promise<string | undefined>;

const probeTimeoutMs = 60_000;

/**
 * Which device runs the network: `auto` takes the GPU where one works, and `cuda` is never
 * replaced by the processor.
 * @throws ModelError when `cuda` is wanted and does not work
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
    `INFERENCE_DEVICE is cuda, but the model cannot run there (${obstacle}). That takes an NVIDIA driver, CUDA 12 with cuDNN 9 and onnxruntime's library for them, see docs/models.md. Set INFERENCE_DEVICE to auto or cpu to run on the processor.`,
  );
}

/** Tries it in a process of its own: loading CUDA can crash. */
export async function probeCuda(graphPath: string, signal: AbortSignal): Promise<string | undefined> {
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
