import { z } from 'zod';

export const formats = ['png', 'webp', 'jpg'] as const;

const side = z.int().positive();

/** The requested form of the result. */
export const outputSchema = z.object({
  format: z.enum(formats),
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

/** Maximum width and height of a format; libjpeg writes no larger JPEG. */
export const maxSides: Readonly<Record<Output['format'], number>> = {
  png: Infinity,
  webp: 16_383,
  jpg: 65_500,
};

/** The subject's bounding box: all visible pixels, in coordinates of the upright image. */
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
