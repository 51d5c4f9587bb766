/** More replicas: detected without a reload, all used, with one shared limit. */
import assert from 'node:assert/strict';
import { inspect } from '../docker.js';
import { request, requests } from '../place/box.js';
import { checkExactLimit } from '../place/exact-limit.js';
import { replicaOf } from '../place/gateway-log.js';
import { filmPage } from '../place/main-job.js';
import type { Report } from '../report.js';
import { NotYet, until } from '../wait.js';
import { containerOf, containersOf, gatewayLog, source, upstreamOf, type Compose } from './project.js';

const replicas = [
  { service: 'video-dl', network: 'video', port: 3001, count: 2 },
  { service: 'bg-removal', network: 'images', port: 3002, count: 3 },
] as const;

/** Brings up the replicas that the checks work with. */
export async function scaleUp(compose: Compose): Promise<void> {
  const scale = replicas.flatMap(({ service, count }) => ['--scale', `${service}=${count}`]);
  await compose('up', '-d', '--no-build', '--no-recreate', ...scale);
  // `--wait` would fail if a container on a busy machine is unhealthy for a moment.
  for (const { service, count } of replicas) {
    await until(`${count} healthy replicas of ${service}`, 300, async () => {
      const states = (await Promise.all((await containersOf(service)).map(inspect))).map(
        ({ State }) => State,
      );
      const statuses = states.map(({ Health }) => Health?.Status ?? 'without health');
      const isReady = statuses.length === count && statuses.every((status) => status === 'healthy');
      return isReady ? true : new NotYet(statuses.join(' '));
    });
  }
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
  await report.check('requests for one page go to one replica of video-dl', async () => {
    const pages = [1, 2, 3];
    for (const round of pages) {
      for (const page of pages) {
        const path = `/api/info?url=${filmPage(source, 0, page)}`;
        const { status } = await request(client, { path, id: `page-${page}-${round}` });
        assert.equal(status, 200);
      }
    }
    for (const page of pages) {
      const used = new Set((await gatewayLog(`page-${page}-`)).map(replicaOf));
      assert.equal(used.size, 1, `page ${page}: ${[...used].join(' ')}`);
    }
  });
  await report.check('5 images a minute and client hold over all replicas, exactly', async () =>
    checkExactLimit(await containerOf('client', 2), gatewayLog),
  );
}
