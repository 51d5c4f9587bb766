/** Redis away, back, and behind a Service with another address. */
import assert from 'node:assert/strict';
import { picturePath, request } from '../place/box.js';
import { healthUntil } from '../place/health.js';
import type { Report } from '../report.js';
import { applyOverlay, kubectl, podOf, product, readyPods } from './cluster.js';

const health = '/bg-removal/api/health';

export async function checkRedis(report: Report): Promise<void> {
  const client = await podOf('client', 3);
  await report.check('without Redis images go on and health says degraded', async () => {
    await kubectl(product, ['scale', 'deployment/redis', '--replicas=0']);
    await healthUntil(client, health, 200, 'degraded');
    const picture = { path: '/api/remove-background', picture: picturePath, id: 'no-redis' };
    const answer = await request(client, picture);
    assert.equal(answer.status, 200, JSON.stringify(answer));
  });
  await report.check('Redis comes back and is used again', async () => {
    await kubectl(product, ['scale', 'deployment/redis', '--replicas=1']);
    await readyPods('redis', 1);
    await healthUntil(client, health, 200, 'ok');
  });
  await report.check('a Service made anew, with another IP, is found', async () => {
    const ip = () => kubectl(product, ['get', 'service', 'redis', '--output', 'jsonpath={.spec.clusterIP}']);
    const before = await ip();
    await kubectl(product, ['delete', 'service', 'redis']);
    // The connections that are there go with the pod that they lead to.
    await kubectl(product, ['delete', 'pod', '--selector', 'app.kubernetes.io/name=redis']);
    await applyOverlay();
    await readyPods('redis', 1);
    const after = await ip();
    assert.notEqual(after, before, 'the Service has the same IP');
    await healthUntil(client, health, 200, 'ok');
    return `${before}, then ${after}`;
  });
}
