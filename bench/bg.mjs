/**
 * Speed of bg-removal: `pnpm bench:bg [--repeat N] [--sizes 0.7,2,12,24] [--peers] [--json FILE]`.
 * Whole requests with their stages beside bare inference in the same run, and
 * with `--peers` @imgly/background-removal-node and rembg, each in a throw-away
 * folder. Photographs are generated; `--image FILE` takes one of yours.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bareInference } from './bg/bare-inference.mjs';
import { healthUnderLoad, uploadsAtOnce } from './bg/load.mjs';
import { imgly, rembg } from './bg/peers.mjs';
import { photographs } from './bg/photographs.mjs';
import { startService } from './bg/service.mjs';
import { median } from './bg/statistics.mjs';

const { values } = parseArgs({
  options: {
    repeat: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '0.7,2,12,24' },
    image: { type: 'string' },
    peers: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const repeat = Number(values.repeat);
const log = (line) => process.stderr.write(`${line}\n`);

const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-bg-'));
const rows = [];
let load;
try {
  const images = await photographs(folder, values.sizes.split(',').map(Number), values.image);
  const bare = await bareInference(repeat);
  const service = await startService();
  try {
    for (const { megapixels, file } of images) {
      const bytes = await readFile(file);
      const requests = [];
      const inferences = [];
      // In turn, so that what else the machine does falls on both alike.
      for (let i = 0; i <= repeat; i++) {
        const request = await service.request(bytes);
        const inference = await bare.run();
        if (i === 0) continue;
        requests.push(request);
        inferences.push(inference);
      }
      const stages = Object.fromEntries(
        Object.keys(requests[0].stages).map((stage) => [stage, median(requests.map((r) => r.stages[stage]))]),
      );
      const row = {
        megapixels,
        request: median(requests.map(({ total }) => total)),
        bare: median(inferences),
        overhead: median(requests.map(({ total, stages: s }) => total - s.inference)),
        stages,
        bytesOut: requests[0].bytesOut,
        inferencePeakMiB: await service.inferencePeakMiB(),
        servicePeakMiB: await service.servicePeakMiB(),
      };
      rows.push(row);
      log(JSON.stringify(row));
    }
    const smallest = await readFile(images[0].file);
    load = {
      health: await healthUnderLoad(service, smallest, 4),
      uploads: await uploadsAtOnce(service, smallest, 50),
      servicePeakMiB: await service.servicePeakMiB(),
    };
    log(JSON.stringify(load));
  } finally {
    await service.stop();
    bare.stop();
  }
  if (values.peers) {
    for (const peer of [imgly, rembg]) {
      try {
        await peer({ folder, images, repeat: Math.min(repeat, 3), rows, log });
      } catch (error) {
        log(`${peer.name} could not be measured: ${error.message}`);
      }
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

if (values.json) await writeFile(values.json, `${JSON.stringify({ rows, load }, null, 2)}\n`);
const ms = (value) => (value === undefined ? '–' : `${Math.round(value)}`);
const times = (peer, own) => (peer === undefined ? '–' : `${(peer / own).toFixed(2)}×`);
const stageNames = ['upload', 'prepare', 'queue', 'inference', 'decode', 'matte', 'encode'];
process.stdout.write(
  `| MP | request ms | bare inference ms | request without inference ms | ${stageNames.join(' | ')} | imgly ms | rembg, published graph ms | rembg, our graph ms | peak MiB inference / service / imgly / rembg |\n|${'---|'.repeat(8 + stageNames.length)}\n`,
);
for (const row of rows) {
  const cells = [
    row.megapixels,
    ms(row.request),
    ms(row.bare),
    ms(row.overhead),
    ...stageNames.map((stage) => ms(row.stages[stage])),
    `${ms(row.imgly?.ms)} (${times(row.imgly?.ms, row.request)})`,
    `${ms(row.rembg?.ms)} (${times(row.rembg?.ms, row.request)})`,
    `${ms(row.rembgRewritten?.ms)} (${times(row.rembgRewritten?.ms, row.request)})`,
    [row.inferencePeakMiB, row.servicePeakMiB, row.imgly?.peakMiB ?? '–', row.rembg?.peakMiB ?? '–'].join(
      ' / ',
    ),
  ];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
process.stdout.write(
  `\nHealth while 4 images are in work: median ${load.health.p50.toFixed(1)} ms, 99th percentile ${load.health.p99.toFixed(1)} ms of ${load.health.samples}.\n` +
    `50 uploads at once: ${JSON.stringify(load.uploads.statuses)} within ${load.uploads.seconds.toFixed(1)} s; peak of the service ${load.servicePeakMiB} MiB.\n`,
);
