/** More replicas: found without a reload, all of them used, one limit for all. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, containersOf, gatewayLog, inspect, upstreamOf } from '../../engine.mjs';

const limitPerMinute = 5;
/** Arguments of `compose up` for the replicas that the checks work with. */
export const scaled = ['--scale', 'video-dl=2', '--scale', 'bg-removal=3'];

/** Retries until the gateway's name look-ups have found every replica. */
async function upstreamsSeen(client, path, id, wanted) {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const name = `${id}-${attempt}`;
    await ask(client, { task: 'requests', path, count: 24, concurrency: 6, id: name });
    const seen = new Set((await gatewayLog(`${name}-`)).map(({ upstream }) => upstream));
    if (seen.size >= wanted) return { seen, attempt };
    await delay(500);
  }
  throw new Error(`the gateway has not used all ${wanted} replicas`);
}

/**
 * @param {import('../../report.mjs').Report} report
 * @param {(args: string[]) => Promise<string>} compose
 */
export async function checkScaling(report, compose) {
  const [client, , other] = await containersOf('client');
  const [gateway] = await containersOf('gateway');
  const { StartedAt } = (await inspect(gateway)).State;

  await report.check('--scale video-dl=2 --scale bg-removal=3 comes up healthy', async () => {
    await compose(['up', '-d', '--no-build', '--wait', '--no-recreate', ...scaled]);
    assert.equal((await containersOf('video-dl')).length, 2);
    assert.equal((await containersOf('bg-removal')).length, 3);
  });
  for (const [service, network, port, count] of [
    ['video-dl', 'video', 3001, 2],
    ['bg-removal', 'images', 3002, 3],
  ]) {
    await report.check(
      `the gateway spreads requests over ${count} replicas of ${service}, without a reload`,
      async () => {
        const replicas = await containersOf(service);
        const addresses = await Promise.all(replicas.map((name) => upstreamOf(name, network, port)));
        const { seen } = await upstreamsSeen(client, `/${service}/api/health`, `spread-${service}`, count);
        assert.deepEqual([...seen].sort(), addresses.sort());
        assert.equal((await inspect(gateway)).State.StartedAt, StartedAt, 'the gateway was restarted');
      },
    );
  }
  await report.check('5 images a minute and client hold over all replicas, exactly', () => exactLimit(other));
}

async function exactLimit(client) {
  const task = { task: 'requests', path: '/api/remove-background', picture: '/tmp/picture.jpg' };
  const one = async (id) => (await ask(client, { ...task, id }))[0];
  const spoofed = { 'X-Forwarded-For': '203.0.113.7' };
  const burst = ask(client, { ...task, count: 12, id: 'limit', headers: spoofed });
  // Images are counted as they arrive, so that the sixth need not wait for the five.
  await delay(5000);
  const early = await one('early');
  assert.equal(early.status, 429, `the 13th within a minute: ${early.status}`);
  const freeAt = Date.now() + Number(early.retryAfter) * 1000;
  await delay(freeAt - Date.now() - 5000);
  const stillEarly = await one('still-early');
  assert.equal(stillEarly.status, 429, `shortly before the minute is over: ${stillEarly.status}`);
  await delay(freeAt - Date.now() + 500);
  const late = await one('late');
  assert.equal(late.status, 200, `after Retry-After: ${late.status}`);

  const answers = await burst;
  assert.deepEqual(answers.map(({ status }) => status).sort(), [
    ...Array(limitPerMinute).fill(200),
    ...Array(12 - limitPerMinute).fill(429),
  ]);
  const waits = answers.filter(({ status }) => status === 429).map(({ retryAfter }) => Number(retryAfter));
  assert.ok(
    waits.every((seconds) => seconds >= 1 && seconds <= 60),
    `Retry-After ${waits}`,
  );
  const served = (await gatewayLog('limit-')).filter(({ status }) => status === 200);
  const replicas = new Set(served.map(({ upstream }) => upstream));
  assert.ok(replicas.size >= 2, `only ${replicas.size} replica served`);
  return `12 at once: 5 × 200 over ${replicas.size} replicas, 7 × 429; the next one passes when Retry-After is over, not 5 s before`;
}
