/** Clients' keys: limits over all replicas, and keys revoked at run time. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { healthUntil } from '../place/health.js';
import { request, shell, type Box } from '../place/box.js';
import { replicaOf } from '../place/gateway-log.js';
import type { Report } from '../report.js';
import { run } from '../run.js';
import { NotYet, until } from '../wait.js';
import { composeFor, containerOf, gatewayLog, source, type Compose, type ComposeSetting } from './project.js';

const videosPerMinute = 5;
const sentAtOnce = 12;

export async function checkKeys(report: Report, setting: ComposeSetting): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-keys-'));
  await chmod(folder, 0o755);
  const key = randomUUID();
  const file = join(folder, 'keys');
  const line = (name: string, secret: string) =>
    `${name} ${createHash('sha256').update(secret).digest('hex')} videos=${videosPerMinute}\n`;
  const others = Array.from({ length: 10_000 }, (_, number) => line(`client-${number}`, randomUUID()));
  await writeFile(file, line('alice', key) + others.join(''));
  const compose = composeFor({
    overrides: [...setting.overrides, 'compose.keys.yml'],
    env: { ...setting.env, VERIFY_SECRETS: folder },
  });
  try {
    await restartGateway(compose);
    await report.check(`a key's limit holds exactly over two replicas of video-dl`, () => keyLimit(key));
    await report.check('10 000 keys are looked up in an index', indexed);
    await report.check('a key that `sed -i` removes from the file is refused at once', () =>
      revoked(key, file),
    );
  } finally {
    await restartGateway(composeFor(setting));
    await rm(folder, { recursive: true });
  }
}

async function restartGateway(compose: Compose): Promise<void> {
  await compose('up', '-d', '--no-build', '--no-deps', 'gateway');
  await healthUntil(await containerOf('client'), '/video-dl/api/health', 200, 'ok');
}

/** A page's details; each number is a different page, so that all replicas get requests. */
function details(client: Box, key: string, number: number, id: string) {
  const url = encodeURIComponent(`http://${source}/film?number=${number}`);
  return request(client, { path: `/api/info?url=${url}`, headers: { Authorization: `Bearer ${key}` }, id });
}

async function keyLimit(key: string): Promise<string> {
  const client = await containerOf('client', 1);
  const numbers = Array.from({ length: sentAtOnce }, (_, number) => number);
  const answers = await Promise.all(numbers.map((number) => details(client, key, number, `key-${number}`)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [
    ...Array<number>(videosPerMinute).fill(200),
    ...Array<number>(sentAtOnce - videosPerMinute).fill(429),
  ]);
  const replicas = new Set((await gatewayLog('key-')).map(replicaOf));
  assert.equal(replicas.size, 2, 'only one replica was asked');
  return `${sentAtOnce} at once over 2 replicas: ${videosPerMinute} × 200, ${sentAtOnce - videosPerMinute} × 429`;
}

async function indexed(): Promise<string> {
  const client = await containerOf('client', 1);
  const gateway = await containerOf('gateway');
  await until('the index of the keys', 30, async () => {
    assert.equal((await details(client, randomUUID(), 0, 'wrong')).status, 401);
    const { code } = await shell(gateway, '[ -s /tmp/keys.index ]');
    return code === 0 ? true : new NotYet('no /tmp/keys.index');
  });
  const answer = await details(client, randomUUID(), 0, 'wrong-indexed');
  assert.equal(answer.status, 401);
  return `a wrong key is refused after ${answer.ms} ms`;
}

async function revoked(key: string, file: string): Promise<string> {
  const client = await containerOf('client', 1);
  assert.notEqual((await details(client, key, 0, 'before')).status, 401);
  // sed replaces the file: if the file itself were mounted, the container would keep the old one.
  await run('sed', ['-i', '/^alice/d', file]);
  const started = performance.now();
  await until('the key to be refused', 10, async () => {
    const { status } = await details(client, key, 0, 'revoked');
    return status === 401 ? true : new NotYet(`status ${status}`);
  });
  return `401 after ${((performance.now() - started) / 1000).toFixed(1)} s`;
}
