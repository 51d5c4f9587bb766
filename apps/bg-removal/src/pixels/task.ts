import { z } from 'zod';
import { imageLimitsSchema, imageRejectionSchema } from '../images/image-limits.js';
import { imageOutputSchema, outputSchema, rectangleSchema } from '../images/output.js';
import { typedArray } from '../typed-array.js';

const bytes = typedArray<Uint8Array>('Uint8Array');

/** Settings of a pixel process, passed on its command line. */
export const pixelSettingsSchema = z.object({
  /** Resident memory that no image may need. */
  maxMemoryBytes: z.number().positive(),
  /** Resident memory that the process may keep between images. */
  keptMemoryBytes: z.number().nonnegative(),
  warmUpRounds: z.int().optional(),
  /** How many times its estimate, or what the process may keep, an image may take; replaced in tests only. */
  memoryTolerance: z.number().optional(),
});
export type PixelSettings = z.output<typeof pixelSettingsSchema>;

const tuningSchema = z.object({
  threshold: z.number(),
  feather: z.number(),
  foregroundStrength: z.number(),
});
/** What the client has set itself. */
const givenTuningSchema = z.object({
  threshold: z.number().exactOptional(),
  feather: z.number().exactOptional(),
  foregroundStrength: z.number().exactOptional(),
});
export type GivenTuning = z.output<typeof givenTuningSchema>;

export const pixelTaskSchema = z.object({
  file: bytes,
  limits: imageLimitsSchema,
  inputSize: z.object({ width: z.int(), height: z.int() }),
  tuning: givenTuningSchema,
  output: outputSchema,
});
export type PixelTask = z.output<typeof pixelTaskSchema>;

/** An intermediate result: a view for the network as interleaved RGB. The process then waits for its mask. */
const viewSchema = z.object({ rgb: bytes, stages: z.record(z.string(), z.number()) });
export type View = z.output<typeof viewSchema>;

/** The image needs this much memory. The process waits for it before it decodes anything. */
const memoryRequestSchema = z.object({ neededBytes: z.number() });
/** The image takes more memory than estimated. The process ends itself. */
const memoryExcessSchema = z.object({ usedBytes: z.number(), limitBytes: z.number() });
export const stepSchema = z.union([viewSchema, memoryRequestSchema, memoryExcessSchema]);
export type Step = z.output<typeof stepSchema>;

/** The reply to a request for memory. */
export const memoryGranted = 'granted';

/** The network's mask, 0-1, of any size. */
export const maskSchema = z.object({
  mask: typedArray<Float32Array<ArrayBuffer>>('Float32Array'),
  width: z.int().positive(),
  height: z.int().positive(),
});
export type Mask = z.output<typeof maskSchema>;

/** Why there is no cut-out, if the image is the reason. */
export const rejectionSchema = z.discriminatedUnion('code', [
  ...imageRejectionSchema.options,
  z.object({ code: z.literal('damaged_pixels') }),
  z.object({ code: z.literal('no_foreground') }),
  z.object({ code: z.literal('needs_too_much_memory'), neededBytes: z.number(), maxBytes: z.number() }),
  z.object({ code: z.literal('too_large_for_format'), isCutOut: z.boolean() }),
]);
export type Rejection = z.output<typeof rejectionSchema>;

export const pixelResultSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('rejected'), rejection: rejectionSchema }),
  z.object({
    kind: z.literal('cut-out'),
    image: imageOutputSchema,
    subject: rectangleSchema,
    /** Milliseconds by stage. */
    stages: z.record(z.string(), z.number()),
  }),
]);
export type PixelResult = z.output<typeof pixelResultSchema>;

const sizeSchema = z.object({ width: z.int().positive(), height: z.int().positive() });

/** Steps of one image. Its pixels, and the masks, are in the shared memory, each when its step begins. */
export const toThreadSchema = z.discriminatedUnion('step', [
  z.object({ step: z.literal('image'), size: sizeSchema, hasAlpha: z.boolean() }),
  z.object({ step: z.literal('view'), area: rectangleSchema, size: sizeSchema }),
  z.object({ step: z.literal('cut-out'), mask: sizeSchema, tuning: tuningSchema }),
]);
export type ToThread = z.output<typeof toThreadSchema>;

/** `done`: the thread does not touch the shared memory until the next step. */
export const fromThreadSchema = z.enum(['ready', 'done']);

export const sharedMemorySchema = z.object({
  memory: z.instanceof(WebAssembly.Memory),
  progress: z.instanceof(Int32Array),
});
