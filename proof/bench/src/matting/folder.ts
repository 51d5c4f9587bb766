import { readdir } from 'node:fs/promises';
import path from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { composite, type Scene, type SubjectScene } from './scenes.js';

/** The subject's share of each side of the image. */
const subjectShare = 0.7;

async function raw(image: Sharp): Promise<{ data: Uint8Array; width: number; height: number }> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { data: Uint8Array.from(data), width: info.width, height: info.height };
}

async function imagesOf(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /\.(?:png|jpe?g|webp)$/i.test(name)).sort();
  return names.map((name) => path.join(folder, name));
}

/**
 * Photographs with exact alpha from a folder of `bench:pictures`: each of `cut-outs` at its own
 * size over one of `backgrounds` in turn, with a margin of half its size. The cut-outs' colours at
 * transparent pixels are unknown.
 * @param names of the cut-outs
 */
export async function* pictureScenes(folder: string, names: readonly string[]): AsyncGenerator<SubjectScene> {
  const backgrounds = await imagesOf(path.join(folder, 'backgrounds'));
  for (const [i, name] of names.entries()) {
    const subject = sharp(path.join(folder, 'cut-outs', name))
      .toColourspace('srgb')
      .ensureAlpha();
    const { width: ownWidth, height: ownHeight } = await subject.metadata();
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

/** Pairs of your own: `name.jpg` and `name-alpha.png`. The exact colours are unknown. */
export async function* pairScenes(folder: string): AsyncGenerator<Scene> {
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
