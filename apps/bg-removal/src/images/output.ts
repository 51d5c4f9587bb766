import { z } from 'zod';

/** The formats of a result, which are also its file extensions. */
export const formats = {
  png: { mediaType: 'image/png', maxSide: Infinity },
  webp: { mediaType: 'image/webp', maxSide: 16_383 },
  /** libjpeg writes no larger ones. */
  jpg: { mediaType: 'image/jpeg', maxSide: 65_500 },
} as const;
export const formatNames = Object.keys(formats) as (keyof typeof formats)[];

const side = z.int().positive();

/** The requested form of the result. */
export const outputSchema = z.object({
  format: z.enum(formatNames),
  /** `alpha`: only the matte, as an 8-bit grey PNG. */
  channels: z.enum(['rgba', 'alpha']),
  /** sRGB and alpha, 0-255 each; undefined keeps the background transparent. */
  background: z.tuple([z.number(), z.number(), z.number(), z.number()]).optional(),
  /** Crops to the subject plus this margin. */
  cropMargin: z.object({ value: z.number(), unit: z.enum(['px', '%']) }).optional(),
  maxWidth: side.optional(),
  maxHeight: side.optional(),
});
export type Output = z.output<typeof outputSchema>;

export const defaultOutput: Output = { format: 'png', channels: 'rgba' };

/** The subject's bounding box: all visible pixels, in coordinates of the upright image. */
export const rectangleSchema = z.object({ left: z.int(), top: z.int(), width: side, height: side });
export type Rectangle = z.output<typeof rectangleSchema>;

/** A finished file. */
export const imageOutputSchema = z.object({
  bytes: z.custom<Uint8Array>((value) => ArrayBuffer.isView(value)),
  format: z.enum(formatNames),
  width: side,
  height: side,
});
export type ImageOutput = z.output<typeof imageOutputSchema>;
