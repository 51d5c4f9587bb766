import sharp, { type Sharp } from 'sharp';

/** The subject's colour and the background's, in sRGB. */
export const subject = { r: 240, g: 200, b: 170 };
export const backdrop = { r: 24, g: 40, b: 60 };

/** A bright disc, off-centre to the top left, on a dark background, which the tiny network can cut out. */
export function picture(width = 96, height = 64): Sharp {
  const disc = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="rgb(${backdrop.r},${backdrop.g},${backdrop.b})"/><circle cx="${width / 3}" cy="${height * 0.375}" r="${Math.min(width, height) / 4}" fill="rgb(${subject.r},${subject.g},${subject.b})"/></svg>`,
  );
  return sharp(disc).removeAlpha();
}

export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly at: (x: number, y: number) => { r: number; g: number; b: number; alpha: number };
  readonly data: Uint8Array;
}

/** Decodes a PNG of this service: it must be RGBA with 8 bits. */
export async function pixelsOf(png: ArrayBuffer | Uint8Array): Promise<Pixels> {
  const image = sharp(Buffer.from(png as Uint8Array));
  const metadata = await image.metadata();
  expect(metadata).toMatchObject({ format: 'png', channels: 4, depth: 'uchar', isPalette: false });
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return {
    width: info.width,
    height: info.height,
    data: new Uint8Array(data),
    at: (x, y) => {
      const [r = 0, g = 0, b = 0, alpha = 0] = data.subarray(
        (y * info.width + x) * 4,
        (y * info.width + x) * 4 + 4,
      );
      return { r, g, b, alpha };
    },
  };
}
