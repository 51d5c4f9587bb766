import { z } from 'zod';

/** Limits of an image, checked against its header before anything is decoded. */
export const imageLimitsSchema = z.object({
  /** Width times height. */
  maxPixels: z.number().positive(),
  /** Width and height, each. */
  maxSide: z.number().positive(),
  /** Passes of a progressive JPEG. */
  maxScans: z.number().positive(),
  /** Pixels times passes of a progressive JPEG: what a decoder goes through. */
  maxScannedPixels: z.number().positive(),
});
export type ImageLimits = z.output<typeof imageLimitsSchema>;

/** What JPEG can have at most; decoders and filters of longer rows take memory and time that no picture needs. */
const longestSide = 65_535;
/** Encoders write about ten; a decoder goes through the whole image for each. */
const mostScans = 100;
/** What ten passes over 100 megapixels come to: about ten seconds of decoding. */
const mostScannedPixels = 1_000_000_000;

export function imageLimits(maxPixels: number): ImageLimits {
  return { maxPixels, maxSide: longestSide, maxScans: mostScans, maxScannedPixels: mostScannedPixels };
}

/** Why the header alone rejects an image. A value, because it crosses to another process. */
export const imageRefusalSchema = z.discriminatedUnion('code', [
  z.object({ code: z.literal('unreadable_header') }),
  z.object({ code: z.literal('too_many_scans'), scans: z.int(), maxScans: z.int() }),
  z.object({ code: z.literal('image_too_large'), width: z.int(), height: z.int() }),
]);
export type ImageRefusal = z.output<typeof imageRefusalSchema>;
