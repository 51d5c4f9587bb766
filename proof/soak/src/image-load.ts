import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { drawSamplePicture } from '@media-services/fault-site';
import type { GoodRequest } from './context.js';
import { imageUpload, type Upload } from './exchange.js';

export const imagePath = '/api/remove-background';
const width = 800;
const height = 600;

export interface ImageLoad {
  readonly good: readonly GoodRequest[];
  readonly bad: readonly { readonly kind: string; readonly upload: Upload }[];
}

/** Valid and invalid images. */
export async function imageLoad(): Promise<ImageLoad> {
  const { jpeg } = await drawSamplePicture();
  const picture = sharp(jpeg).resize(width, height);
  const files = {
    'photo.jpg': await picture.clone().jpeg().toBuffer(),
    'photo.png': await picture.clone().png().toBuffer(),
    'photo.webp': await picture.clone().webp().toBuffer(),
    'cut-out.png': await picture.clone().ensureAlpha(0.5).png().toBuffer(),
  };
  const good = Object.entries(files).map(async ([name, bytes]): Promise<GoodRequest> => ({
    kind: `image, ${name}`,
    path: () => imagePath,
    upload: await imageUpload({ bytes, name }),
    wrongWith: async ({ body }) => {
      const seen = await sharp(body).metadata();
      const isRight =
        seen.format === 'png' && seen.hasAlpha && seen.width === width && seen.height === height;
      return isRight ? undefined : `${seen.format} ${seen.width}×${seen.height}`;
    },
  }));
  const half = files['photo.png'].subarray(0, files['photo.png'].length / 2);
  const bad = [
    { kind: 'no image: text', file: Buffer.from('This is no picture. '.repeat(1000)) },
    { kind: 'no image: noise', file: randomBytes(200_000) },
    { kind: 'no image: half a PNG', file: half },
    { kind: 'no image: 3.6 thousand megapixels', file: withSides(files['photo.png'], 60_000, 60_000) },
    { kind: 'no image: 16 MiB', file: Buffer.alloc(16 * 1024 ** 2, files['photo.jpg']) },
    { kind: 'no image: nothing at all', file: undefined },
  ].map(async ({ kind, file }) => ({
    kind,
    upload: await imageUpload(file && { bytes: file, name: 'photo.jpg' }),
  }));
  return { good: await Promise.all(good), bad: await Promise.all(bad) };
}

/** A PNG whose header states a wrong size (PNG, 11.2.2: width and height are the first fields of IHDR). */
function withSides(png: Buffer, wide: number, high: number): Buffer {
  const changed = Buffer.from(png);
  changed.writeUInt32BE(wide, 16);
  changed.writeUInt32BE(high, 20);
  return changed;
}
