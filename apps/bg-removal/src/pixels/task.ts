import { z } from 'zod';
import { imageLimitsSchema, imageRefusalSchema } from '../images/image-limits.js';
import { imageOutputSchema, outputSchema, rectangleSchema } from '../images/output.js';
import { typedArray } from '../typed-array.js';

/** What the pixel processes do: everything that touches whole images, so that the service's own process never does. */

const bytes = typedArray<Uint8Array>('Uint8Array');

/** What a pixel process is told on its command line. */
export const pixelSettingsSchema = z.object({
  /** Resident memory above which the process ends, and its image with it. */
  maxMemoryBytes: z.number().positive(),
});
export type PixelSettings = z.output<typeof pixelSettingsSchema>;

export const pixelTaskSchema = z.object({
  file: bytes,
  limits: imageLimitsSchema,
  inputSize: z.object({ width: z.int(), height: z.int() }),
  tuning: z.object({ threshold: z.number(), feather: z.number(), foregroundStrength: z.number() }),
  output: outputSchema,
});
export type PixelTask = z.output<typeof pixelTaskSchema>;

/** Half-way, the process hands out the network's view, interleaved RGB, and waits for a mask of it. */
export const viewSchema = z.object({ rgb: bytes, stages: z.record(z.string(), z.number()) });
export type View = z.output<typeof viewSchema>;

/** The network's mask, 0-1, of any size. */
export const maskSchema = z.object({
  mask: typedArray<Float32Array<ArrayBuffer>>('Float32Array'),
  width: z.int().positive(),
  height: z.int().positive(),
});
export type Mask = z.output<typeof maskSchema>;

/** Why there is no cut-out, where that is the image's own fault. */
export const refusalSchema = z.discriminatedUnion('code', [
  ...imageRefusalSchema.options,
  z.object({ code: z.literal('damaged_pixels') }),
  z.object({ code: z.literal('no_foreground') }),
  z.object({ code: z.literal('too_large_for_webp') }),
]);
export type Refusal = z.output<typeof refusalSchema>;

export const pixelResultSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('refused'), refusal: refusalSchema }),
  z.object({
    kind: z.literal('cut-out'),
    image: imageOutputSchema,
    subject: rectangleSchema,
    /** Milliseconds by stage. */
    stages: z.record(z.string(), z.number()),
  }),
]);
export type PixelResult = z.output<typeof pixelResultSchema>;
