import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { docker, inspect, run } from '../engine.mjs';
import { Report } from '../report.mjs';

const stack = 'media-verify';
const gateway = `http://127.0.0.1:${process.env.PORT ?? '18081'}`;
const env = { PORT: process.env.PORT ?? '18081' };
const expected = { gateway: 1, 'video-dl': 2, 'bg-removal': 2, redis: 1 };
const startMinutes = 5;

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
process.stdout.write(`${report.summary()}\n`);
if (report.failed > 0) process.exitCode = 1;

async function proofs() {
  await report.check('the gateway answers for both services', async () => {
    // Swarm starts in no order: until Redis is there, bg-removal counts for itself.
    let health;
    for (let attempt = 0; attempt < 60; attempt += 1) {
      health = await get('/api/health');
      if (health.json.status === 'ok') break;
      await delay(1000);
    }
    assert.equal(health.json.status, 'ok', JSON.stringify(health));
  });
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

async function deployed() {
  await run(
    'docker',
    ['stack', 'deploy', '--resolve-image', 'never', '--compose-file', 'deploy/swarm/stack.yml', stack],
    { env },
  );
  await healthy(expected);
  return (await docker('stack', 'services', '--format', '{{.Name}} {{.Replicas}}', stack))
    .trim()
    .split('\n')
    .sort()
    .join(', ');
}

async function containers(service) {
  const out = await docker(
    'ps',
    '--format',
    '{{.Names}}',
    '--filter',
    `label=com.docker.swarm.service.name=${stack}_${service}`,
  );
  return out.split('\n').filter(Boolean);
}

async function healthy(wanted) {
  const until = Date.now() + startMinutes * 60_000;
  for (;;) {
    const missing = [];
    for (const [service, count] of Object.entries(wanted)) {
      const states = await Promise.all(
        (await containers(service)).map(async (name) => (await inspect(name)).State.Health?.Status),
      );
      const ready = states.filter((state) => state === 'healthy').length;
      if (ready !== count || states.length !== count) missing.push(`${service} ${ready}/${count}`);
    }
    if (missing.length === 0) return;
    if (Date.now() > until) throw new Error(`not healthy: ${missing.join(', ')}`);
    await delay(1000);
  }
}

async function get(path) {
  const response = await fetch(gateway + path, { headers: { 'X-Request-Id': 'verify-swarm' } });
  return { status: response.status, json: await response.json() };
}

async function hardened() {
  for (const service of Object.keys(expected)) {
    const [name] = await containers(service);
    const { HostConfig, Config, State } = await inspect(name);
    assert.ok(
      HostConfig.ReadonlyRootfs && HostConfig.Init && HostConfig.CapDrop.includes('ALL'),
      `${service} is not hardened`,
    );
    assert.ok(
      HostConfig.Memory > 0 && HostConfig.NanoCpus > 0 && HostConfig.PidsLimit > 0,
      `${service} lacks a limit`,
    );
    assert.ok(Config.User !== '' && !/^(0|root)/.test(Config.User), `${service} runs as root`);
    assert.equal(State.OOMKilled, false);
  }
}

/** Which addresses the gateway has used lately for a service. */
async function spread(service, count) {
  const seen = new Set();
  for (let attempt = 0; attempt < 30 && seen.size < count; attempt += 1) {
    const path = `/${service}/api/health`;
    await Promise.all(Array.from({ length: 8 }, () => get(path)));
    await delay(500);
    const [name] = await containers('gateway');
    for (const line of (await docker('logs', '--tail', '60', name)).split('\n')) {
      if (!line.includes(`"path":"${path}"`)) continue;
      const { upstream, status } = JSON.parse(line);
      if (status === 200) seen.add(upstream);
    }
  }
  assert.ok(seen.size >= count, `${service}: the gateway used ${[...seen].join(' ')}`);
}

async function rollingUpdate() {
  let running = true;
  const update = docker(
    'service',
    'update',
    '--quiet',
    '--detach=false',
    '--force',
    `${stack}_video-dl`,
  ).finally(() => (running = false));
  const failures = [];
  let total = 0;
  while (running) {
    total += 1;
    const { status } = await get('/video-dl/api/health').catch((error) => ({
      status: String(error.cause ?? error),
    }));
    if (status !== 200) failures.push(status);
    await delay(100);
  }
  await update;
  assert.deepEqual(failures, [], `${failures.length} of ${total} requests failed`);
  return `${total} requests during the update, 0 failed`;
}

async function removed() {
  await docker('stack', 'rm', stack);
  for (let attempt = 0; attempt < 120; attempt += 1) {
    const left = await docker('ps', '-aq', '--filter', `label=com.docker.stack.namespace=${stack}`);
    if (left.trim() === '') return;
    await delay(1000);
  }
  throw new Error('containers are left');
}
