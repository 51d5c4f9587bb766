/**
 * Memory over many images: `node bench/bg-soak.mjs [--images 300]`. Mixed sizes,
 * the resident memory of the service and of its inference process as it goes.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { photographs } from './bg/photographs.mjs';
import { startService } from './bg/service.mjs';

const { values } = parseArgs({ options: { images: { type: 'string', default: '300' } } });
const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-soak-'));
const service = await startService();
try {
  const files = await photographs(folder, [0.3, 0.7, 2, 6, 12]);
  const images = await Promise.all(files.map(({ file }) => readFile(file)));
  process.stdout.write('| images | service MiB | inference MiB |\n|---|---|---|\n');
  for (let i = 1; i <= Number(values.images); i++) {
    const { status } = await service.request(images[(i * 7) % images.length]);
    if (status !== 200) throw new Error(`image ${i} was answered with ${status}`);
    if (i % 25 === 0 || i === 5) {
      process.stdout.write(
        `| ${i} | ${await service.residentMiB()} | ${await service.inferenceResidentMiB()} |\n`,
      );
    }
  }
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
