/** npm run proof -- swarm: deploys deploy/swarm/stack.yml on the Docker engine that is there, in swarm mode. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from '@media-services/stack/set-up';
import { z } from 'zod';
import { containersWith, docker, inspect } from './docker.js';
import { gatewayLines, replicaOf } from './place/gateway-log.js';
import { overallStatus } from './place/health.js';
import { shell, type Box } from './place/box.js';
import { Report } from './report.js';
import { run } from './run.js';
import { inBackground, NotYet, until } from './wait.js';

const stack = 'media-verify';
const port = process.env.PORT ?? '18081';
const gateway = `http://127.0.0.1:${port}`;
const expected = { gateway: 1, 'video-dl': 2, 'bg-removal': 2, redis: 1 };
type Service = keyof typeof expected;

/** As an operator writes them into settings.env. PORT and HOST come from an .env of Compose and do no harm. */
const settings = 'IMAGES_PER_MINUTE=3\nIMAGE_MAX_BYTES=1MiB\nBASE_PATH=/media\nPORT=9000\nHOST=127.0.0.1\n';
const healthSchema = z.object({
  limits: z.object({ imagesPerMinute: z.number(), imageMaxBytes: z.number() }),
});

const report = new Report();
const wasActive = (await docker('info', '-f', '{{.Swarm.LocalNodeState}}')).trim() === 'active';
try {
  if (!wasActive) await docker('swarm', 'init', '--advertise-addr', '127.0.0.1');
  await report.check('the stack is deployed and every task is healthy', deployed);
  if (report.failed === 0) await proofs();
} finally {
  await report.check('removing the stack leaves no container', removed);
  if (!wasActive) await docker('swarm', 'leave', '--force');
}
report.end();

async function proofs(): Promise<void> {
  await report.check('the gateway answers for both services', async () => {
    // Swarm starts in no order: until Redis is there, bg-removal counts for itself.
    await until('/api/health says ok', 60, async () => {
      const health = await get('/api/health', 'health');
      return overallStatus(health.json).status === 'ok' ? health : new NotYet(JSON.stringify(health));
    });
  });
  await report.check('settings reach the gateway and both services', settingsReach);
  await report.check('tasks are read-only, without root, capabilities or missing limits', hardened);
  await report.check('requests spread over the tasks of each service', async () => {
    await spread('video-dl', 2);
    await spread('bg-removal', 2);
  });
  await report.check('a scaled service is used without touching the gateway', async () => {
    await docker('service', 'scale', '--detach=true', `${stack}_video-dl=3`);
    await healthy({ ...expected, 'video-dl': 3 });
    await spread('video-dl', 3);
  });
  await report.check('a rolling update loses no request', rollingUpdate);
}

async function deployed(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-swarm-'));
  try {
    await cp(join(root, 'deploy/swarm'), folder, { recursive: true });
    await writeFile(join(folder, 'settings.env'), settings);
    const options = ['--resolve-image', 'never', '--compose-file', join(folder, 'stack.yml')];
    const env = { PORT: port, SHUTDOWN_GRACE_SECONDS: '10' };
    await run('docker', ['stack', 'deploy', ...options, stack], { env });
  } finally {
    await rm(folder, { recursive: true });
  }
  await healthy(expected);
  const services = await docker('stack', 'services', '--format', '{{.Name}} {{.Replicas}}', stack);
  return services.trim().split('\n').sort().join(', ');
}

function containers(service: Service): Promise<Box[]> {
  return containersWith({ 'com.docker.swarm.service.name': `${stack}_${service}` });
}

async function container(service: Service): Promise<Box> {
  const [first] = await containers(service);
  if (first === undefined) throw new Error(`${service} has no container`);
  return first;
}

async function healthy(wanted: Record<Service, number>): Promise<void> {
  await until('every task healthy', 600, async () => {
    const missing: string[] = [];
    for (const service of services()) {
      const states = await Promise.all((await containers(service)).map(inspect));
      const ready = states.filter(({ State }) => State.Health?.Status === 'healthy').length;
      const count = wanted[service];
      if (ready !== count || states.length !== count) missing.push(`${service} ${ready}/${count}`);
    }
    return missing.length === 0 ? true : new NotYet(missing.join(', '));
  });
}

function services(): Service[] {
  return ['gateway', 'video-dl', 'bg-removal', 'redis'];
}

async function get(path: string, id: string): Promise<{ status: number; json: unknown }> {
  const response = await fetch(gateway + path, { headers: { 'X-Request-Id': id } });
  return { status: response.status, json: await response.json() };
}

async function settingsReach(): Promise<string> {
  const health = await get('/media/bg-removal/api/health', 'settings');
  const { limits } = healthSchema.parse(health.json);
  assert.deepEqual([limits.imagesPerMinute, limits.imageMaxBytes], [3, 1024 ** 2]);
  const large = { method: 'POST', body: new Uint8Array(3 * 1024 ** 2) };
  assert.equal((await fetch(`${gateway}/media/api/remove-background`, large)).status, 413);
  for (const service of ['video-dl', 'bg-removal'] as const) {
    const { output } = await shell(await container(service), 'printenv BASE_PATH SHUTDOWN_GRACE_SECONDS');
    assert.deepEqual(output.trim().split('\n'), ['/media', '10'], service);
  }
  const seconds = await docker(
    'service',
    'inspect',
    '-f',
    '{{.Spec.TaskTemplate.ContainerSpec.StopGracePeriod}}',
    `${stack}_video-dl`,
  );
  assert.equal(seconds.trim(), '25s');
  return 'IMAGES_PER_MINUTE, IMAGE_MAX_BYTES, BASE_PATH, SHUTDOWN_GRACE_SECONDS';
}

async function hardened(): Promise<void> {
  for (const service of services()) {
    const { HostConfig, Config, State } = await inspect(await container(service));
    assert.ok(HostConfig.ReadonlyRootfs && HostConfig.CapDrop?.includes('ALL'), `${service} is not hardened`);
    assert.ok(HostConfig.Memory > 0 && HostConfig.PidsLimit, `${service} lacks a limit`);
    assert.ok(Config.User !== '' && !/^(0|root)/.test(Config.User), `${service} runs as root`);
    assert.equal(State.OOMKilled, false);
  }
}

/** Waits until the gateway has used so many tasks of a service. */
async function spread(service: Service, count: number): Promise<void> {
  const id = `spread-${service}-${count}-`;
  const path = `/${service}/api/health`;
  await until(`${count} tasks of ${service} are used`, 60, async () => {
    await Promise.all(Array.from({ length: 8 }, () => get(path, id)));
    const log = gatewayLines(await docker('logs', (await container('gateway')).name), id);
    const used = new Set(log.filter(({ status }) => status === 200).map(replicaOf));
    return used.size >= count ? true : new NotYet([...used].join(' '));
  });
}

async function rollingUpdate(): Promise<string> {
  const isOver = new AbortController();
  const options = ['--quiet', '--detach=false', '--force'];
  const update = docker('service', 'update', ...options, `${stack}_video-dl`);
  const updating = inBackground(update.finally(() => isOver.abort()));
  const failures: string[] = [];
  let total = 0;
  while (!isOver.signal.aborted) {
    total += 1;
    const status = await get('/video-dl/api/health', 'update').then(
      (answer) => String(answer.status),
      (error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error),
    );
    if (status !== '200') failures.push(status);
    await delay(100);
  }
  await updating;
  assert.deepEqual(failures, [], `${failures.length} of ${total} requests failed`);
  return `${total} requests during the update, 0 failed`;
}

async function removed(): Promise<void> {
  await docker('stack', 'rm', stack);
  await until('no container of the stack', 120, async () => {
    const left = await containersWith({ 'com.docker.stack.namespace': stack }, { all: true });
    return left.length === 0 ? true : new NotYet(left.map(({ name }) => name).join(' '));
  });
}
