import { z } from 'zod';

/** Limits that an image's header must meet before we decode anything. */
export const imageLimitsSchema = z.object({
  /** Width times height. */
  maxPixels: z.number().positive(),
  /** Applies to width and height separately. */
  maxSide: z.number().positive(),
  /** Scans of a progressive JPEG. */
  maxScans: z.number().positive(),
  /** Pixels times scans of a progressive JPEG, which is the decoder's work. */
  maxScannedPixels: z.number().positive(),
});
export type ImageLimits = z.output<typeof imageLimitsSchema>;

/** JPEG's maximum. Longer rows would cost decoders and filters memory and time that no real image needs. */
const maxSide = 65_535;
/** Encoders write about ten; a decoder processes the whole image for each. */
const maxScans = 100;
/** Equals ten scans of 100 megapixels: about ten seconds of decoding. */
const maxScannedPixels = 1_000_000_000;

export function imageLimits(maxPixels: number): ImageLimits {
  return { maxPixels, maxSide, maxScans, maxScannedPixels };
}

/** Why the header check rejects an image. A plain value, because it is sent to another process. */
export const imageRejectionSchema = z.discriminatedUnion('code', [
  z.object({ code: z.literal('unreadable_header') }),
  z.object({ code: z.literal('too_many_scans'), scans: z.int(), maxScans: z.int() }),
  z.object({ code: z.literal('image_too_large'), width: z.int(), height: z.int() }),
]);
export type ImageRejection = z.output<typeof imageRejectionSchema>;

const startOfScan = 0xda;
const endOfImage = 0xd9;

/** Markers without a length: TEM, RST0-RST7, SOI. */
function standsAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/**
 * Counts the scans of a JPEG (ITU-T T.81, B.1). A decoder processes the whole image for each
 * scan, so a small file can cause hours of work. Takes linear time in the file's length. Counts
 * a damaged file as far as it can be parsed.
 */
export function countJpegScans(file: Uint8Array): number {
  let scans = 0;
  let at = 2;
  for (;;) {
    at = nextMarker(file, at);
    const marker = file[at];
    if (marker === undefined || marker === endOfImage) return scans;
    at++;
    if (standsAlone(marker)) continue;
    if (marker === startOfScan) scans++;
    // Skip the segment. The compressed data of a scan follows it, up to the next marker.
    const high = file[at];
    const low = file[at + 1];
    if (high === undefined || low === undefined) return scans;
    at += Math.max(2, high * 256 + low);
  }
}

/**
 * Offset of the next marker code; the file's length if no marker follows. `FF 00` is data, `FF FF`
 * is padding.
 */
function nextMarker(file: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    at = file.indexOf(0xff, at);
    if (at < 0) return file.length;
    while (file[at] === 0xff) at++;
    if (file[at] !== 0x00) return at;
  }
}
