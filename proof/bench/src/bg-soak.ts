/**
 * Memory over many images: `npm run bench -- bg-soak [--images 10000] [--minutes M] [--sizes 0.3,0.7,2,6,12] [--rembg]`.
 * Sizes take turns. Prints the resident memory of every process, and with `--rembg` that of rembg,
 * which gets the same images. Ends after that many images or minutes, whichever comes first.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rembg } from './bg/peers.js';
import { photographs } from './bg/photographs.js';
import { markdownTable } from './bg/report.js';
import { startService } from './bg/service.js';
import { median } from './bg/statistics.js';

const { values } = parseArgs({
  options: {
    images: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: 'Infinity' },
    sizes: { type: 'string', default: '0.3,0.7,2,6,12' },
    rembg: { type: 'boolean', default: false },
  },
});
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const sampleEvery = 25;

const samples = new Map<string, number[]>();
const sample = (name: string, mib: number) => samples.set(name, [...(samples.get(name) ?? []), mib]);

const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-soak-'));
const service = await startService();
const peer = values.rembg ? await rembg(log) : undefined;
try {
  const pictures = await photographs(folder, values.sizes.split(',').map(Number));
  const files = await Promise.all(pictures.map(async ({ file }) => Uint8Array.from(await readFile(file))));
  const endsAt = performance.now() + Number(values.minutes) * 60_000;
  let images = 0;
  while (images < Number(values.images) && performance.now() < endsAt) {
    for (const [i, file] of files.entries()) {
      const { status } = await service.request(file);
      images++;
      if (status !== 200) throw new Error(`image ${images} returned HTTP ${status}`);
      const picture = pictures[i];
      if (peer && picture) await peer.run(picture);
    }
    if (images % sampleEvery >= files.length) continue;
    const { service: front, pixels, inference } = await service.residentMiB();
    sample('service', front);
    for (const [i, mib] of pixels.entries()) sample(`pixels ${i + 1}`, mib);
    for (const [i, mib] of inference.entries()) sample(`inference ${i + 1}`, mib);
    if (peer) sample(peer.name, await peer.residentMiB());
    log(
      `${images} images: ${[...samples].map(([name, each]) => `${name} ${each.at(-1) ?? 0}`).join(', ')} MiB`,
    );
  }
  process.stdout.write(
    `${images} images of ${values.sizes} megapixels in turn, resident MiB:\n\n` +
      markdownTable(
        ['process', 'start', 'median', 'most', 'end'],
        [...samples].map(([name, each]) => [
          name,
          each[0] ?? 0,
          median(each),
          Math.max(...each),
          each.at(-1) ?? 0,
        ]),
      ),
  );
} finally {
  await service.stop();
  await peer?.stop();
  await rm(folder, { recursive: true, force: true });
}
