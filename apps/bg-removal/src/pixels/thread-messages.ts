import { z } from 'zod';
import { tuningSchema } from './task.js';

const sizeSchema = z.object({ width: z.int().positive(), height: z.int().positive() });

/** The image to work on. Its pixels and then its mask are the first in the shared memory. */
export const toThreadSchema = z.object({ image: sizeSchema, mask: sizeSchema, tuning: tuningSchema });
export type ToThread = z.output<typeof toThreadSchema>;

/** `left`: the thread does not touch the shared memory until the next message. */
export const fromThreadSchema = z.enum(['ready', 'left']);

export const sharedMemorySchema = z.object({
  memory: z.instanceof(SharedArrayBuffer),
  progress: z.instanceof(Int32Array),
});
