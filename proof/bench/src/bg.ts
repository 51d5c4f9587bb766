/**
 * Speed of bg-removal: `npm run bench -- bg [--rounds N] [--sizes 0.7,2,12,24] [--peers] [--json FILE]`.
 * Alternates in one run: whole requests in the precision that the service chooses and in single
 * precision, the bare networks and, with `--peers`, rembg and @imgly/background-removal-node.
 * Then health and uploads under load. Images are generated; `--image FILE` uses one of yours.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bareNetwork, requests } from './bg/contenders.js';
import { healthUnderLoad, uploadsAtOnce } from './bg/load.js';
import { imgly, rembg } from './bg/peers.js';
import { photographs } from './bg/photographs.js';
import { markdownTable, speedsOf } from './bg/report.js';
import { startService } from './bg/service.js';
import { takeTurns, type Contender } from './bg/turns.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '0.7,2,12,24' },
    image: { type: 'string' },
    peers: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const log = (line: string): void => void process.stderr.write(`${line}\n`);

const contenders: Contender[] = [];
const enter = <T extends Contender>(contender: T): T => {
  contenders.push(contender);
  return contender;
};

const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-bg-'));
try {
  const pictures = await photographs(folder, values.sizes.split(',').map(Number), values.image);
  const [smallest] = pictures;
  if (smallest === undefined) throw new Error('Name at least one size.');

  const service = await startService();
  const ownRequests = enter(requests(service));
  const ownNetwork = enter(await bareNetwork(service.precision));
  if (service.precision !== 'fp32') {
    enter(requests(await startService({ INFERENCE_PRECISION: 'fp32' })));
    enter(await bareNetwork('fp32'));
  }
  if (values.peers) {
    enter(await rembg(log));
    enter(await imgly(log));
  }

  const runs = await takeTurns(contenders, pictures, Number(values.rounds), log);
  const isNetwork = ({ name }: { name: string }) => name.startsWith('network');
  const speeds = [
    ...speedsOf(runs, ownRequests).filter((speed) => !isNetwork(speed)),
    ...speedsOf(runs, ownNetwork).filter(isNetwork),
  ];
  const peaks = await Promise.all(
    contenders.map(async (contender) => ({ name: contender.name, mib: await contender.peakMiB() })),
  );
  const processes = await service.peakMiB();
  const small = Uint8Array.from(await readFile(smallest.file));
  const load = {
    health: await healthUnderLoad(service, small, 4),
    uploads: await uploadsAtOnce(service, small, 50),
    peakMiB: await service.peakMiB(),
  };

  const ms = (value: number) => Math.round(value);
  const own = speeds.filter(({ name }) => name === ownRequests.name);
  const stages = Object.keys(own[0]?.stages ?? {});
  process.stdout.write(
    [
      markdownTable(
        ['contender', ...pictures.map(({ megapixels }) => `${megapixels} MP: ms (× ours)`)],
        contenders.map(({ name }) => [
          name,
          ...speeds
            .filter((speed) => speed.name === name)
            .map((speed) => `${ms(speed.ms)} (${speed.ratio.toFixed(2)})`),
        ]),
      ),
      markdownTable(
        ['MP', 'request', ...stages],
        own.map((speed) => [
          speed.megapixels,
          ms(speed.ms),
          ...stages.map((stage) => ms(speed.stages[stage] ?? 0)),
        ]),
      ),
      markdownTable(
        ['process that runs the network', 'peak MiB'],
        peaks.map(({ name, mib }) => [name, mib]),
      ),
      `The service's processes at their peak, MiB: ${JSON.stringify(processes)}; after 50 uploads at once: ${JSON.stringify(load.peakMiB)}.\n` +
        `Health while 4 images are in work: median ${load.health.p50.toFixed(1)} ms, 99th percentile ${load.health.p99.toFixed(1)} ms of ${load.health.samples}.\n` +
        `50 uploads at once: ${JSON.stringify(load.uploads.statuses)} within ${load.uploads.seconds.toFixed(1)} s.\n`,
    ].join('\n'),
  );
  if (values.json)
    await writeFile(values.json, `${JSON.stringify({ speeds, peaks, processes, load }, null, 2)}\n`);
} finally {
  await Promise.allSettled(contenders.map((contender) => contender.stop()));
  await rm(folder, { recursive: true, force: true });
}
