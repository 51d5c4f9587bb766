/** What is left when a part is away, and what a wrong setting says. */
import assert from 'node:assert/strict';
import { inspect } from '../docker.js';
import { healthUntil, overallStatus } from '../place/health.js';
import { picturePath, request } from '../place/box.js';
import { problemCode } from '../place/main-job.js';
import type { Report } from '../report.js';
import { run } from '../run.js';
import { containerOf, type Compose } from './project.js';

const image = { path: '/api/remove-background', picture: picturePath, id: 'degraded-image' };

export async function checkDegraded(report: Report, compose: Compose): Promise<void> {
  const client = await containerOf('client');
  // One that has images left in this minute.
  const fresh = await containerOf('client', 3);
  await report.check('without Redis images go on and health says degraded', async () => {
    await compose('stop', 'redis');
    await healthUntil(client, '/bg-removal/api/health', 200, 'degraded');
    const answer = await request(fresh, image);
    assert.equal(answer.status, 200, JSON.stringify(answer));
    await compose('start', 'redis');
    await healthUntil(client, '/bg-removal/api/health', 200, 'ok');
  });
  await report.check('with one service down the other works and health names it', async () => {
    await compose('stop', '-t', '1', 'bg-removal');
    const { json } = await healthUntil(client, '/api/health', 503, 'error');
    const { services = {} } = overallStatus(json);
    assert.deepEqual([services['bg-removal']?.status, services['video-dl']?.status], ['down', 'ok']);
    const answer = await request(client, image);
    assert.ok([502, 503].includes(answer.status), JSON.stringify(answer));
    assert.ok(Number(answer.retryAfter) >= 1, 'no Retry-After');
    return `images: ${answer.status} ${problemCode(answer.json)}, Retry-After ${answer.retryAfter}`;
  });
  await report.check('a wrong setting ends the start with a message that names it', async () => {
    const { Config } = await inspect(await containerOf('video-dl'));
    const line = `docker run --rm -e STREAMS_MAX=many ${Config.Image} 2>&1; echo "exit=$?"`;
    const out = await run('sh', ['-c', line]);
    assert.match(out, /exit=78/);
    const message = out.split('\n').find((text) => text.includes('STREAMS_MAX'));
    assert.ok(message !== undefined, out);
    return message.trim();
  });
}
