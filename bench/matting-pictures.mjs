/**
 * Sheets to look at: `pnpm bench:matting-pictures OUT.png [--precisions fp32,int8] [IMAGE …]`.
 * Each row is an image, then its cut-out as served over magenta and over a checkerboard, or,
 * with several precisions, over magenta in each. Without images: generated scenes.
 */
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { openNetwork } from './matting/network.mjs';
import { cutOutScene, variants } from './matting/pipeline.mjs';
import { makeScene, sceneList } from './matting/scenes.mjs';

/** @typedef {Pick<import('./matting/scenes.mjs').Scene, 'composite' | 'width' | 'height'>} Picture */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { precisions: { type: 'string', default: 'auto' }, side: { type: 'string', default: '400' } },
});
const [out, ...files] = positionals;
if (out === undefined) throw new Error('name the file to write');
const cell = { width: Number(values.side), height: Math.round(Number(values.side) * 0.75) };

/**
 * @param {string} file
 * @returns {Promise<Picture>}
 */
async function pictureFrom(file) {
  const { data, info } = await sharp(file)
    .autoOrient()
    .toColourspace('srgb')
    .flatten({ background: '#ffffff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, composite: Uint8Array.from(data) };
}

/** @param {string} backdrop SVG that fills the cell */
const over = (backdrop) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${cell.width}" height="${cell.height}">${backdrop}</svg>`,
  );
const magenta = over('<rect width="100%" height="100%" fill="#f0f"/>');
const checkerboard = over(
  '<defs><pattern id="c" width="24" height="24" patternUnits="userSpaceOnUse"><rect width="24" height="24" fill="#fff"/><path d="M0 0h12v12H0zM12 12h12v12H12z" fill="#bbb"/></pattern></defs><rect width="100%" height="100%" fill="url(#c)"/>',
);

/**
 * @param {Picture} picture
 * @param {import('./matting/network.mjs').Network} network
 */
async function cutOutOf(picture, network) {
  const { width, height } = picture;
  const { alpha, rgb } = cutOutScene(picture, await network.mask(picture), variants['as served']);
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .joinChannel(Buffer.from(alpha), { raw: { width, height, channels: 1 } })
    .resize(cell.width, cell.height, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer();
}

const networks = [];
for (const precision of values.precisions.split(',')) networks.push(await openNetwork({ precision }));
const backdrops = networks.length > 1 ? [magenta] : [magenta, checkerboard];

const shown = sceneList({ small: true }).filter(({ group }) =>
  ['solid', 'soft', 'hair', 'holes'].includes(group),
);
const sources =
  files.length > 0
    ? files.map((file) => () => pictureFrom(file))
    : shown.map((spec) => () => makeScene(spec));
const rows = [];
for (const source of sources) {
  const picture = await source();
  const { width, height } = picture;
  const cells = [
    await sharp(picture.composite, { raw: { width, height, channels: 3 } })
      .resize(cell.width, cell.height, { fit: 'contain', background: '#ffffff' })
      .png()
      .toBuffer(),
  ];
  for (const network of networks) {
    const input = await cutOutOf(picture, network);
    for (const backdrop of backdrops)
      cells.push(await sharp(backdrop).composite([{ input }]).png().toBuffer());
  }
  rows.push(cells);
}
await sharp({
  create: {
    width: cell.width * (rows[0]?.length ?? 1),
    height: cell.height * rows.length,
    channels: 3,
    background: '#ffffff',
  },
})
  .composite(
    rows.flatMap((cells, row) =>
      cells.map((input, column) => ({ input, left: column * cell.width, top: row * cell.height })),
    ),
  )
  .png({ palette: true, quality: 90 })
  .toFile(out);
