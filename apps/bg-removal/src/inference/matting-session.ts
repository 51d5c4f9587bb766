import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import type { InferenceResult, InferenceSettings } from './job.js';

/** onnxruntime creates this empty file, and leaves it if the process is killed. */
export async function removeDebugLog(): Promise<void> {
  await rm(join(tmpdir(), `mat-debug-${process.pid}.log`), { force: true });
}

/**
 * One loaded network. Only the inference process and the CUDA probe may import this module,
 * because a run blocks the event loop and a crash ends the process.
 */
export class MattingSession {
  readonly #session: ort.InferenceSession;
  readonly #settings: InferenceSettings;
  readonly #inputName: string;
  /** Reused buffer for networks with normalised input; only one image is processed at a time. */
  readonly #planes: Float32Array | undefined;

  private constructor(session: ort.InferenceSession, settings: InferenceSettings, input: NetworkInput) {
    const { width, height } = settings.inputSize;
    this.#session = session;
    this.#settings = settings;
    this.#inputName = input.name;
    this.#planes = input.type === 'float32' ? new Float32Array(width * height * 3) : undefined;
  }

  /** @throws Error if onnxruntime can't run the file, or it has no such output */
  static async load(settings: InferenceSettings): Promise<MattingSession> {
    const session = await ort.InferenceSession.create(settings.graphPath, {
      // Measured choices; see docs/internals/decisions-bg-removal.md.
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      enableCpuMemArena: true,
      enableMemPattern: true,
      logSeverityLevel: 3,
      executionProviders: [settings.device],
      intraOpNumThreads: settings.threads,
      // Its threads would spin for 50 ms after each run, on cores that the matte needs.
      extra: { session: { force_spinning_stop: '1' } },
    });
    await removeDebugLog();
    if (!session.outputNames.includes(settings.outputName)) {
      throw new Error(
        `The network has no output "${settings.outputName}"; it has ${session.outputNames.join(', ')}.`,
      );
    }
    return new MattingSession(session, settings, inputOf(session));
  }

  /** @throws Error if the image or the network's output has the wrong size */
  async run(rgb: Uint8Array): Promise<InferenceResult> {
    const { width, height } = this.#settings.inputSize;
    if (rgb.length !== width * height * 3) {
      throw new Error(`The input has ${rgb.length} bytes, but must have ${width * height * 3}.`);
    }
    const startedAt = performance.now();
    const tensor = this.#inputTensor(rgb);
    const outputs = await this.#session.run({ [this.#inputName]: tensor }, [this.#settings.outputName]);
    const inferenceMs = performance.now() - startedAt;
    const output = outputs[this.#settings.outputName];
    try {
      return { ...maskOf(output, this.#settings.activation), inferenceMs };
    } finally {
      output?.dispose();
      tensor.dispose();
    }
  }

  #inputTensor(rgb: Uint8Array): ort.Tensor {
    const { width, height } = this.#settings.inputSize;
    if (this.#planes === undefined) return new ort.Tensor('uint8', rgb, [1, height, width, 3]);
    normalise(rgb, this.#planes, this.#settings);
    return new ort.Tensor('float32', this.#planes, [1, 3, height, width]);
  }
}

interface NetworkInput {
  readonly name: string;
  /** `float32`: normalised, `[1, 3, height, width]`; `uint8`: pixels as decoded, `[1, height, width, 3]`. */
  readonly type: 'float32' | 'uint8';
}

function inputOf({ inputMetadata: [input, ...others] }: ort.InferenceSession): NetworkInput {
  if (!input?.isTensor || others.length > 0) throw new Error('The network must have exactly one input.');
  const { name, type } = input;
  if (type !== 'float32' && type !== 'uint8') {
    throw new Error(`The network takes ${type}, but must take float32 or uint8.`);
  }
  return { name, type };
}

function normalise(rgb: Uint8Array, planes: Float32Array, { mean, std }: InferenceSettings): void {
  const count = rgb.length / 3;
  for (let channel = 0; channel < 3; channel++) {
    const scale = 1 / (255 * (std[channel] ?? 1));
    const offset = -(mean[channel] ?? 0) / (std[channel] ?? 1);
    const start = channel * count;
    for (let i = 0, at = channel; i < count; i++, at += 3) {
      planes[start + i] = (rgb[at] ?? 0) * scale + offset;
    }
  }
}

function maskOf(
  output: ort.Tensor | undefined,
  activation: InferenceSettings['activation'],
): Omit<InferenceResult, 'inferenceMs'> {
  if (output?.type !== 'float32') throw new Error('The network returned no single-precision output.');
  const [height, width] = output.dims.slice(-2);
  const mask = (output.data as Float32Array).slice();
  if (height === undefined || width === undefined || mask.length !== width * height) {
    throw new Error(`The output has the shape ${output.dims.join('×')}, but must be one mask.`);
  }
  if (activation === 'sigmoid')
    for (let i = 0; i < mask.length; i++) mask[i] = 1 / (1 + Math.exp(-(mask[i] ?? 0)));
  return { mask, width, height };
}
