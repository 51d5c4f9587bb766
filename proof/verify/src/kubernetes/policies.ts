/** Tests the network policies from inside the pods. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { shell, type Box } from '../place/box.js';
import type { Report } from '../report.js';
import { run } from '../run.js';
import { kubectl, podOf, product } from './cluster.js';

/** Whether a connection succeeds within three seconds; policies drop packets silently. */
async function reaches(from: Box, host: string, port: number): Promise<boolean> {
  // gateway's image has no Node; bash is in all of them.
  const { code } = await shell(from, `timeout 3 bash -c 'exec 3<>/dev/tcp/${host}/${port}' 2>/dev/null`);
  return code === 0;
}

async function clusterIp(namespace: string, service: string): Promise<string> {
  return kubectl(namespace, ['get', 'service', service, '--output', 'jsonpath={.spec.clusterIP}']);
}

async function nodeIp(): Promise<string> {
  const out = await run('kubectl', ['get', 'nodes', '--output', 'jsonpath={.items[0].status.addresses}']);
  const addresses = z.array(z.object({ type: z.string(), address: z.string() })).parse(JSON.parse(out));
  const internal = addresses.find(({ type }) => type === 'InternalIP');
  if (internal === undefined) throw new Error('the node has no internal IP');
  return internal.address;
}

export async function checkPolicies(report: Report): Promise<void> {
  const gateway = await podOf('gateway');
  const videoDl = await podOf('video-dl');
  const bgRemoval = await podOf('bg-removal');
  const redis = await podOf('redis');
  const client = await podOf('client');
  const site = await podOf('source');
  const api = await clusterIp('default', 'kubernetes');
  const redisIp = await clusterIp(product, 'redis');
  const gatewayIp = await clusterIp(product, 'gateway');
  const dns = await clusterIp('kube-system', 'kube-dns');

  // Each refused port is reached by somebody here, so that a closed one is not taken for a policy.
  await report.check('every way that a part needs is open', async () => {
    const open: [Box, string, number][] = [
      [videoDl, redisIp, 6379],
      [client, gatewayIp, 80],
      [gateway, videoDl.ip, 3001],
      [gateway, bgRemoval.ip, 3002],
      [bgRemoval, redisIp, 6379],
      [videoDl, site.ip, 8000],
      [videoDl, dns, 53],
      [bgRemoval, dns, 53],
      [gateway, dns, 53],
      [client, api, 443],
    ];
    for (const [from, host, port] of open) {
      assert.ok(await reaches(from, host, port), `${from.name} does not reach ${host}:${port}`);
    }
    return `${open.length} connections`;
  });
  await report.check(
    'video-dl reaches no address of the cluster but Redis: services, pods, node, API',
    async () => {
      await refused([
        [videoDl, api, 443],
        [videoDl, gatewayIp, 80],
        [videoDl, bgRemoval.ip, 3002],
        [videoDl, gateway.ip, 8080],
        [videoDl, await nodeIp(), 6443],
      ]);
    },
  );
  await report.check('bg-removal reaches Redis and DNS, and nothing else', async () => {
    await refused([
      [bgRemoval, api, 443],
      [bgRemoval, videoDl.ip, 3001],
      [bgRemoval, gateway.ip, 8080],
      [bgRemoval, site.ip, 8000],
      [bgRemoval, '1.1.1.1', 443],
      [bgRemoval, await nodeIp(), 6443],
    ]);
  });
  await report.check('strangers reach the gateway only, and the gateway both services only', async () => {
    await refused([
      [client, videoDl.ip, 3001],
      [client, videoDl.ip, 9101],
      [client, bgRemoval.ip, 3002],
      [client, bgRemoval.ip, 9102],
      [client, redis.ip, 6379],
      [gateway, redis.ip, 6379],
      [gateway, videoDl.ip, 9101],
      [gateway, api, 443],
      [redis, dns, 53],
      [redis, api, 443],
    ]);
  });
}

async function refused(connections: readonly (readonly [Box, string, number])[]): Promise<void> {
  const open = await Promise.all(
    connections.map(async ([from, host, port]) =>
      (await reaches(from, host, port)) ? [`${from.name} → ${host}:${port}`] : [],
    ),
  );
  assert.deepEqual(open.flat(), []);
}
