/**
 * A sheet to look at: `node bench/matting-pictures.mjs OUT.png [IMAGE …]`. Each
 * row is an image, its cut-out over magenta and over a checkerboard, as served.
 */
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { cutOutScene, openModel, variants } from './matting/pipeline.mjs';
import { makeScene, sceneList } from './matting/scenes.mjs';

const { positionals } = parseArgs({ allowPositionals: true });
const [out, ...files] = positionals;
if (!out) throw new Error('name the file to write');

async function given(file) {
  const { data, info } = await sharp(file)
    .autoOrient()
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, composite: data };
}
const generated = sceneList({ small: true }).filter(({ group }) =>
  ['solid', 'soft', 'hair', 'holes'].includes(group),
);
const scenes = await Promise.all(files.length > 0 ? files.map(given) : generated.map(makeScene));

const [cellWidth, cellHeight] = [400, 300];
const fit = (image) =>
  image.resize(cellWidth, cellHeight, { fit: 'contain', background: '#ffffff' }).png().toBuffer();
const checker = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${cellWidth}" height="${cellHeight}"><defs><pattern id="c" width="24" height="24" patternUnits="userSpaceOnUse"><rect width="24" height="24" fill="#fff"/><path d="M0 0h12v12H0zM12 12h12v12H12z" fill="#bbb"/></pattern></defs><rect width="100%" height="100%" fill="url(#c)"/></svg>`,
);
const model = await openModel();
const tiles = [];
for (const [row, scene] of scenes.entries()) {
  const { width, height } = scene;
  const { alpha, rgb } = cutOutScene(scene, await model.mask(scene), variants['as served']);
  const rgba = Buffer.alloc(width * height * 4);
  for (let i = 0; i < alpha.length; i++) {
    rgba.set(rgb.subarray(i * 3, i * 3 + 3), i * 4);
    rgba[i * 4 + 3] = alpha[i];
  }
  const cutOut = await sharp(rgba, { raw: { width, height, channels: 4 } })
    .resize(cellWidth, cellHeight, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer();
  const over = (background) =>
    sharp(background)
      .resize(cellWidth, cellHeight)
      .composite([{ input: cutOut }])
      .png()
      .toBuffer();
  const magenta = await sharp({
    create: { width: cellWidth, height: cellHeight, channels: 3, background: '#ff00ff' },
  })
    .png()
    .toBuffer();
  const cells = [
    await fit(sharp(Buffer.from(scene.composite), { raw: { width, height, channels: 3 } })),
    await over(magenta),
    await over(checker),
  ];
  for (const [column, input] of cells.entries())
    tiles.push({ input, left: column * cellWidth, top: row * cellHeight });
}
await sharp({
  create: { width: cellWidth * 3, height: cellHeight * scenes.length, channels: 3, background: '#ffffff' },
})
  .composite(tiles)
  .png({ palette: true, quality: 90 })
  .toFile(out);
