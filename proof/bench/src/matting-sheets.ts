/**
 * Sheets to look at: `npm run bench -- matting-sheets OUT.png [--precisions fp32,int8] [IMAGE …]`.
 * Each row is an image (over grey), then its cut-out as served over white, black and magenta, or,
 * with several precisions, over magenta in each. Without images: generated scenes.
 */
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { z } from 'zod';
import { precisionSettings } from '@media-services/bg-removal/dist/inference/choices.js';
import { openNetwork, type Network } from './matting/network.js';
import { cutOutScene, rgbaOf, variants } from './matting/pipeline.js';
import { makeScene, sceneList, type Shot } from './matting/scenes.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { precisions: { type: 'string', default: 'auto' }, side: { type: 'string', default: '400' } },
});
const [out, ...files] = positionals;
if (out === undefined) throw new Error('Name the output file.');
const cell = { width: Number(values.side), height: Math.round(Number(values.side) * 0.75) };

async function shotFrom(file: string): Promise<Shot> {
  const { data, info } = await sharp(file)
    .autoOrient()
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return {
    width: info.width,
    height: info.height,
    composite: Uint8Array.from(data.filter((_, i) => i % 4 !== 3)),
    own: Uint8Array.from(data.filter((_, i) => i % 4 === 3)),
  };
}

const over = (background: string) => ({ create: { ...cell, channels: 3 as const, background } });

async function cutOutOf(shot: Shot, network: Network): Promise<Buffer> {
  const { width, height } = shot;
  const { alpha, rgb } = cutOutScene(shot, (await network.find(shot)).found, variants['as served']);
  const rgba = Buffer.alloc(alpha.length * 4);
  for (const [i, value] of alpha.entries()) rgba.set([...rgb.subarray(i * 3, i * 3 + 3), value], i * 4);
  return sharp(rgba, { raw: { width, height, channels: 4 } })
    .resize(cell.width, cell.height, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer();
}

const networks: Network[] = [];
for (const precision of z.array(z.enum(precisionSettings)).parse(values.precisions.split(','))) {
  networks.push(await openNetwork({ precision }));
}
const backdrops = networks.length > 1 ? ['#ff00ff'] : ['#ffffff', '#000000', '#ff00ff'];

const shown = sceneList('small').filter(({ group }) => ['solid', 'soft', 'hair', 'holes'].includes(group));
const sources =
  files.length > 0 ? files.map((file) => () => shotFrom(file)) : shown.map((spec) => () => makeScene(spec));
const rows: Buffer[][] = [];
for (const source of sources) {
  const shot = await source();
  const { width, height, data } = rgbaOf(shot);
  const cells = [
    await sharp(data, { raw: { width, height, channels: 4 } })
      .flatten({ background: '#808080' })
      .resize(cell.width, cell.height, { fit: 'contain', background: '#ffffff' })
      .png()
      .toBuffer(),
  ];
  for (const network of networks) {
    const input = await cutOutOf(shot, network);
    for (const backdrop of backdrops)
      cells.push(await sharp(over(backdrop)).composite([{ input }]).png().toBuffer());
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
