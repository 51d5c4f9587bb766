/** More replicas: found without a reload, all of them used, one limit for all. */
import assert from 'node:assert/strict';
import { inspect } from '../docker.js';
import { requests } from '../place/box.js';
import { checkExactLimit } from '../place/exact-limit.js';
import { replicaOf } from '../place/gateway-log.js';
import type { Report } from '../report.js';
import { NotYet, until } from '../wait.js';
import { containerOf, containersOf, gatewayLog, upstreamOf, type Compose } from './project.js';

const replicas = [
  { service: 'video-dl', network: 'video', port: 3001, count: 2 },
  { service: 'bg-removal', network: 'images', port: 3002, count: 3 },
] as const;

/** Brings up the replicas that the checks work with. */
export async function scaleUp(compose: Compose): Promise<void> {
  const scale = replicas.flatMap(({ service, count }) => ['--scale', `${service}=${count}`]);
  await compose('up', '-d', '--no-build', '--wait', '--no-recreate', ...scale);
  for (const { service, count } of replicas) assert.equal((await containersOf(service)).length, count);
}

export async function checkScaling(report: Report, compose: Compose): Promise<void> {
  const client = await containerOf('client');
  const gateway = await containerOf('gateway');
  const { StartedAt } = (await inspect(gateway)).State;

  await report.check('--scale video-dl=2 --scale bg-removal=3 comes up healthy', () => scaleUp(compose));
  for (const { service, network, port, count } of replicas) {
    await report.check(
      `the gateway spreads requests over ${count} replicas of ${service}, without a reload`,
      async () => {
        const boxes = await containersOf(service);
        const expected = await Promise.all(boxes.map((box) => upstreamOf(box, network, port)));
        let round = 0;
        const seen = await until(`requests at ${count} replicas`, 60, async () => {
          const id = `spread-${service}-${round++}-`;
          await requests(client, { path: `/${service}/api/health`, count: 24, concurrency: 6, id });
          const used = [...new Set((await gatewayLog(id)).map(replicaOf))].sort();
          return used.length >= count ? used : new NotYet(used.join(' '));
        });
        assert.deepEqual(seen, expected.sort());
        assert.equal((await inspect(gateway)).State.StartedAt, StartedAt, 'the gateway was restarted');
      },
    );
  }
  await report.check('5 images a minute and client hold over all replicas, exactly', async () =>
    checkExactLimit(await containerOf('client', 2), gatewayLog),
  );
}
