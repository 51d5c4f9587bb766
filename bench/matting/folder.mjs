import { readdir } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { seededRandom } from './random.mjs';
import { background } from './textures.mjs';

const raw = async (file, channels) => {
  let image = sharp(file).toColourspace('srgb');
  image = channels === 1 ? image.removeAlpha().greyscale() : image.removeAlpha();
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), width: info.width, height: info.height };
};

/**
 * Scenes from a folder: an image with alpha is put over generated backgrounds;
 * `name.jpg` with `name-alpha.png` beside it is taken as it is (its exact
 * colours are not known, so that its colour error is left out).
 */
export async function* folderScenes(folder) {
  const names = (await readdir(folder)).filter((name) => /\.(png|jpe?g|webp)$/i.test(name)).sort();
  for (const name of names) {
    if (/-alpha\.png$/i.test(name)) continue;
    const file = path.join(folder, name);
    const stem = path.parse(name).name;
    const { width, height, data } = await raw(file, 3);
    if (names.includes(`${stem}-alpha.png`)) {
      const matte = await raw(path.join(folder, `${stem}-alpha.png`), 1);
      yield {
        name: stem,
        group: 'pairs',
        width,
        height,
        composite: data,
        alpha: matte.data,
        foreground: null,
      };
      continue;
    }
    if (!(await sharp(file).metadata()).hasAlpha) continue;
    const alpha = new Uint8Array(await sharp(file).extractChannel('alpha').raw().toBuffer());
    for (const [i, kind] of ['garden', 'dusk'].entries()) {
      const behind = await background(width, height, seededRandom(i + 1), kind);
      const composite = data.map((value, j) => {
        const a = alpha[Math.floor(j / 3)] / 255;
        return Math.round(a * value + (1 - a) * behind[j]);
      });
      yield { name: `${stem}-${kind}`, group: 'cut-outs', width, height, composite, alpha, foreground: data };
    }
  }
}
