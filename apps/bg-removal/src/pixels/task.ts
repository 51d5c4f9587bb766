import { z } from 'zod';
import { imageLimitsSchema, imageRefusalSchema } from '../images/image-limits.js';
import { typedArray } from '../typed-array.js';

/** What the pixel processes do: everything that touches whole images, so that the service's own process never does. */

const bytes = typedArray<Uint8Array>('Uint8Array');
const mask = typedArray<Float32Array<ArrayBuffer>>('Float32Array');

/** What a pixel process is told on its command line. */
export const pixelSettingsSchema = z.object({
  /** Resident memory above which the process ends, and its image with it. */
  maxMemoryBytes: z.number().positive(),
});
export type PixelSettings = z.output<typeof pixelSettingsSchema>;

const prepareTaskSchema = z.object({
  kind: z.literal('prepare'),
  file: bytes,
  limits: imageLimitsSchema,
  inputSize: z.object({ width: z.int(), height: z.int() }),
});
export type PrepareTask = z.output<typeof prepareTaskSchema>;

const cutOutTaskSchema = z.object({
  kind: z.literal('cut-out'),
  file: bytes,
  mask,
  maskWidth: z.int().positive(),
  maskHeight: z.int().positive(),
  tuning: z.object({ threshold: z.number(), feather: z.number(), foregroundStrength: z.number() }),
});
export type CutOutTask = z.output<typeof cutOutTaskSchema>;

export const pixelTaskSchema = z.discriminatedUnion('kind', [prepareTaskSchema, cutOutTaskSchema]);
export type PixelTask = z.output<typeof pixelTaskSchema>;

/** Why there is no cut-out, where that is the image's own fault. */
export const refusalSchema = z.discriminatedUnion('code', [
  ...imageRefusalSchema.options,
  z.object({ code: z.literal('damaged_pixels') }),
  z.object({ code: z.literal('no_foreground') }),
]);
export type Refusal = z.output<typeof refusalSchema>;

const refused = z.object({ kind: z.literal('refused'), refusal: refusalSchema });

/** Interleaved RGB of the model's input size. */
const preparedSchema = z.object({ kind: z.literal('prepared'), rgb: bytes });

const cutOutImageSchema = z.object({
  kind: z.literal('cut-out'),
  png: bytes,
  width: z.int().positive(),
  height: z.int().positive(),
  /** Milliseconds by stage. */
  stages: z.object({ decode: z.number(), matte: z.number(), encode: z.number() }),
});

export const pixelResultSchema = z.discriminatedUnion('kind', [refused, preparedSchema, cutOutImageSchema]);
export type PixelResult = z.output<typeof pixelResultSchema>;
export type Prepared = z.output<typeof preparedSchema> | z.output<typeof refused>;
export type CutOutResult = z.output<typeof cutOutImageSchema> | z.output<typeof refused>;
