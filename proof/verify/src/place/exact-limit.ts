import assert from 'node:assert/strict';
import { picturePath, request, requests, type Box } from './box.js';
import { inBackground, NotYet, until } from '../wait.js';
import { replicaOf, type GatewayLine } from './gateway-log.js';

const limitPerMinute = 5;
const sentAtOnce = 12;

/**
 * Five images per minute and client over all replicas, even if the client forges its IP.
 * @param client one that has sent no image in the last minute
 * @param log the gateway's lines for requests whose id begins with a text
 */
export async function checkExactLimit(
  client: Box,
  log: (id: string) => Promise<readonly GatewayLine[]>,
): Promise<string> {
  const task = { path: '/api/remove-background', picture: picturePath };
  // Client and verifier share a clock. The client waits, because starting it may take seconds.
  const one = (id: string, notBefore = 0) => request(client, { ...task, id, notBefore });
  const spoofed = { 'X-Forwarded-For': '203.0.113.7' };
  const burst = inBackground(requests(client, { ...task, count: sentAtOnce, id: 'limit', headers: spoofed }));
  // Images count as soon as they arrive, so the sixth doesn't have to wait for the five.
  const tooMany = sentAtOnce - limitPerMinute;
  await until(`${tooMany} images are rejected`, 60, async () => {
    const rejected = (await log('limit-')).filter(({ status }) => status === 429).length;
    return rejected >= tooMany ? true : new NotYet(`${rejected} are`);
  });
  const early = await one('early');
  assert.equal(early.status, 429, `the 13th within a minute: ${early.status}`);
  const freeAt = early.at + Number(early.retryAfter) * 1000;
  const stillEarly = await one('still-early', freeAt - 5000);
  assert.equal(stillEarly.status, 429, `shortly before the minute is over: ${stillEarly.status}`);
  const late = await one('late', freeAt + 500);
  assert.equal(late.status, 200, `after Retry-After: ${late.status}`);

  const answers = await burst;
  assert.deepEqual(answers.map(({ status }) => status).sort(), [
    ...Array<number>(limitPerMinute).fill(200),
    ...Array<number>(tooMany).fill(429),
  ]);
  const waits = answers.filter(({ status }) => status === 429).map(({ retryAfter }) => Number(retryAfter));
  assert.ok(
    waits.every((seconds) => seconds >= 1 && seconds <= 60),
    `Retry-After ${waits.join(' ')}`,
  );
  const replicas = new Set((await log('limit-')).filter(({ status }) => status === 200).map(replicaOf));
  assert.ok(replicas.size >= 2, `only ${replicas.size} replica served`);
  return `12 at once: 5 × 200 over ${replicas.size} replicas, 7 × 429; the next one passes when Retry-After is over, not 5 s before`;
}
