import path from 'node:path';
import sharp from 'sharp';
import { makeScene } from '../matting/scenes.js';
import type { Picture } from './turns.js';

/** JPEGs of about the given megapixels, 3:2: a generated portrait with hair, or the given image, resized. */
export async function photographs(
  folder: string,
  sizes: readonly number[],
  given?: string,
): Promise<Picture[]> {
  const source = given === undefined ? await generated() : sharp(given);
  const picture = await source.png().toBuffer();
  const files: Picture[] = [];
  for (const megapixels of sizes) {
    const height = Math.round(Math.sqrt((megapixels * 1e6) / 1.5));
    const file = path.join(folder, `picture-${megapixels}.jpg`);
    await sharp(picture)
      .resize(Math.round(height * 1.5), height, { fit: 'cover' })
      .jpeg({ quality: 88 })
      .toFile(file);
    files.push({ megapixels, file });
  }
  return files;
}

async function generated() {
  const { composite, width, height } = await makeScene({
    group: 'hair',
    background: 'garden',
    seed: 7,
    width: 3000,
    height: 2000,
  });
  return sharp(Buffer.from(composite), { raw: { width, height, channels: 3 } });
}
