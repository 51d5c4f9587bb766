/** What is left when a part is away, and what a wrong setting says. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, containersOf, docker, run } from '../../engine.mjs';

async function healthUntil(client, path, matches) {
  let last;
  for (let attempt = 0; attempt < 30; attempt += 1) {
    [last] = await ask(client, { task: 'requests', path, id: 'degraded' });
    if (matches(last)) return last;
    await delay(500);
  }
  throw new Error(`${path} stays ${JSON.stringify(last)}`);
}

/**
 * @param {import('../../report.mjs').Report} report
 * @param {(args: string[]) => Promise<string>} compose
 */
export async function checkDegraded(report, compose) {
  const [client, , , fresh] = await containersOf('client');
  await report.check('without Redis images go on and health says degraded', async () => {
    await compose(['stop', 'redis']);
    await healthUntil(
      client,
      '/bg-removal/api/health',
      ({ status, json }) => status === 200 && json.status === 'degraded',
    );
    const [answer] = await ask(fresh, {
      task: 'requests',
      path: '/api/remove-background',
      picture: '/tmp/picture.jpg',
    });
    assert.equal(answer.status, 200, JSON.stringify(answer));
    await compose(['start', 'redis']);
    await healthUntil(client, '/bg-removal/api/health', ({ json }) => json?.status === 'ok');
  });
  await report.check('with one service down the other works and health names it', async () => {
    await compose(['stop', '-t', '1', 'bg-removal']);
    const { json } = await healthUntil(client, '/api/health', ({ status }) => status === 503);
    assert.deepEqual([json.services['bg-removal'].status, json.services['video-dl'].status], ['down', 'ok']);
    const [image] = await ask(client, {
      task: 'requests',
      path: '/api/remove-background',
      picture: '/tmp/picture.jpg',
    });
    assert.ok([502, 503].includes(image.status) && image.json.code !== undefined, JSON.stringify(image));
    assert.ok(Number(image.retryAfter) >= 1, 'no Retry-After');
    return `images: ${image.status} ${image.json.code}, Retry-After ${image.retryAfter}`;
  });
  await report.check('a wrong setting ends the start with a message that names it', async () => {
    const [container] = await containersOf('video-dl');
    const image = (await docker('inspect', '-f', '{{.Config.Image}}', container)).trim();
    const line = `docker run --rm -e MAX_CONCURRENT_STREAMS=many ${image} 2>&1; echo "exit=$?"`;
    const out = await run('sh', ['-c', line]);
    assert.match(out, /MAX_CONCURRENT_STREAMS/);
    assert.match(out, /exit=78/);
    return out
      .split('\n')
      .find((text) => text.includes('MAX_CONCURRENT_STREAMS'))
      .trim();
  });
}
