import { readdir } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { composite } from './scenes.mjs';

/** The subject's share of each side of the picture. */
const subjectShare = 0.7;

/**
 * @param {import('sharp').Sharp} image
 * @returns {Promise<{ data: Uint8Array, width: number, height: number }>}
 */
async function raw(image) {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { data: Uint8Array.from(data), width: info.width, height: info.height };
}

/** @param {string} folder */
async function imagesOf(folder) {
  const names = (await readdir(folder)).filter((name) => /\.(?:png|jpe?g|webp)$/i.test(name)).sort();
  return names.map((name) => path.join(folder, name));
}

/**
 * Photographs with exact alpha from a folder of the command `bench:pictures`: each of `cut-outs`
 * over one of `backgrounds` after the other, at its own size, with half as much room again.
 * What the cut-outs' colours are where they are transparent is not known.
 * @param {string} folder
 * @param {readonly string[]} names of the cut-outs
 * @returns {AsyncGenerator<import('./scenes.mjs').Scene>}
 */
export async function* pictureScenes(folder, names) {
  const backgrounds = await imagesOf(path.join(folder, 'backgrounds'));
  for (const [i, name] of names.entries()) {
    const subject = sharp(path.join(folder, 'cut-outs', name))
      .toColourspace('srgb')
      .ensureAlpha();
    const { width: ownWidth = 0, height: ownHeight = 0 } = await subject.metadata();
    const [width, height] = [Math.round(ownWidth / subjectShare), Math.round(ownHeight / subjectShare)];
    const left = (width - ownWidth) >> 1;
    const top = (height - ownHeight) >> 1;
    const canvas = sharp(await subject.png().toBuffer()).extend({
      left,
      top,
      right: width - ownWidth - left,
      bottom: height - ownHeight - top,
      background: { r: 0, g: 0, b: 0, alpha: 0 },
    });
    const placed = await raw(canvas);
    const alpha = placed.data.filter((_, k) => k % 4 === 3);
    const foreground = placed.data.filter((_, k) => k % 4 !== 3);
    const behind = await raw(
      sharp(backgrounds[i % backgrounds.length])
        .toColourspace('srgb')
        .removeAlpha()
        .resize(width, height, { fit: 'cover' }),
    );
    yield {
      name: path.parse(name).name,
      group: 'photographs',
      width,
      height,
      alpha,
      foreground,
      composite: composite(alpha, foreground, behind.data),
    };
  }
}

/**
 * Pairs of your own: `name.jpg` with `name-alpha.png` beside it. The exact colours are not known.
 * @param {string} folder
 * @returns {AsyncGenerator<import('./scenes.mjs').Scene>}
 */
export async function* pairScenes(folder) {
  const files = await imagesOf(folder);
  for (const file of files) {
    const stem = path.join(folder, path.parse(file).name);
    if (!files.includes(`${stem}-alpha.png`)) continue;
    const { data, width, height } = await raw(sharp(file).toColourspace('srgb').removeAlpha());
    const matte = await raw(sharp(`${stem}-alpha.png`).removeAlpha().toColourspace('b-w'));
    yield {
      name: path.parse(file).name,
      group: 'pairs',
      width,
      height,
      alpha: matte.data,
      foreground: null,
      composite: data,
    };
  }
}
