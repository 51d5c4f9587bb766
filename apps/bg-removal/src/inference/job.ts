import { z } from 'zod';
import { typedArray } from '../typed-array.js';

/** Settings of the inference process, passed as JSON on its command line. */
export const inferenceSettingsSchema = z.object({
  graphPath: z.string(),
  inputSize: z.object({ width: z.int(), height: z.int() }),
  mean: z.tuple([z.number(), z.number(), z.number()]),
  std: z.tuple([z.number(), z.number(), z.number()]),
  activation: z.enum(['none', 'sigmoid']),
  outputName: z.string(),
  /** Threads of one inference. */
  threads: z.int().min(1),
  device: z.enum(['cpu', 'cuda']),
});
export type InferenceSettings = z.output<typeof inferenceSettingsSchema>;

/** One image, interleaved RGB of the model's input size. */
export const inferenceJobSchema = z.object({ rgb: typedArray<Uint8Array>('Uint8Array') });
export type InferenceJob = z.output<typeof inferenceJobSchema>;

/** The foreground probability of every input pixel, 0-1, row by row. */
export const inferenceResultSchema = z.object({
  mask: typedArray<Float32Array<ArrayBuffer>>('Float32Array'),
  width: z.int().positive(),
  height: z.int().positive(),
  inferenceMs: z.number(),
});
export type InferenceResult = z.output<typeof inferenceResultSchema>;

export const inferenceReadySchema = z.object({
  type: z.literal('ready'),
  loadMs: z.number(),
  warmUpMs: z.number(),
});
export type InferenceReady = z.output<typeof inferenceReadySchema>;
