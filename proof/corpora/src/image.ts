import sharp from 'sharp';

/** An image as decoded by libvips. */
export interface Picture {
  readonly format: string;
  /** As shown: with its orientation applied. */
  readonly width: number;
  readonly height: number;
}

/** @returns undefined for what libvips can't decode to its last row */
export async function decodeImage(bytes: Buffer): Promise<Picture | undefined> {
  try {
    const { format } = await sharp(bytes).metadata();
    const { info } = await sharp(bytes, { failOn: 'warning' })
      .rotate()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { format, width: info.width, height: info.height };
  } catch {
    // Damaged, or no image.
    return undefined;
  }
}
