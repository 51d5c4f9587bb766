import { z } from 'zod';

export const formats = ['png', 'webp', 'jpg'] as const;

const side = z.int().positive();

/** What becomes of a cut-out. */
export const outputSchema = z.object({
  format: z.enum(formats),
  /** `alpha`: the matte alone, as an 8-bit grey PNG. */
  channels: z.enum(['rgba', 'alpha']),
  /** sRGB and alpha, 0-255 each; undefined leaves the background transparent. */
  background: z.tuple([z.number(), z.number(), z.number(), z.number()]).optional(),
  /** Crops to the subject and this much around it. */
  cropMargin: z.object({ value: z.number(), unit: z.enum(['px', '%']) }).optional(),
  maxWidth: side.optional(),
  maxHeight: side.optional(),
});
export type Output = z.output<typeof outputSchema>;

export const defaultOutput: Output = { format: 'png', channels: 'rgba' };

/** The most that WebP can have on a side. */
export const maxWebpSide = 16_383;

/** Where the subject is: the smallest rectangle around all that is visible, in pixels of the upright image. */
export const rectangleSchema = z.object({ left: z.int(), top: z.int(), width: side, height: side });
export type Rectangle = z.output<typeof rectangleSchema>;

/** A finished file. */
export const imageOutputSchema = z.object({
  bytes: z.custom<Uint8Array>((value) => ArrayBuffer.isView(value)),
  mediaType: z.enum(['image/png', 'image/webp', 'image/jpeg']),
  extension: z.enum(formats),
  width: side,
  height: side,
});
export type ImageOutput = z.output<typeof imageOutputSchema>;
