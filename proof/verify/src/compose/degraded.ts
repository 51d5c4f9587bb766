/** Behaviour when a part is down, and messages for invalid settings. */
import assert from 'node:assert/strict';
import { inspect } from '../docker.js';
import { healthUntil, overallStatus } from '../place/health.js';
import { download, picturePath, request } from '../place/box.js';
import { filmPage, problemCode } from '../place/main-job.js';
import type { Report } from '../report.js';
import { inBackground, NotYet, until } from '../wait.js';
import { composeFor, containerOf, source, type Compose, type ComposeSetting } from './project.js';

const image = { path: '/api/remove-background', picture: picturePath, id: 'degraded-image' };

export async function checkDegraded(report: Report, compose: Compose): Promise<void> {
  const client = await containerOf('client');
  // A client that may still send images in this minute.
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
    // 504 while the gateway still has the address of the stopped container.
    const answer = await until('the gateway to know that bg-removal is down', 30, async () => {
      const seen = await request(client, image);
      return [502, 503].includes(seen.status) ? seen : new NotYet(JSON.stringify(seen));
    });
    assert.ok(Number(answer.retryAfter) >= 1, 'no Retry-After');
    return `images: ${answer.status} ${problemCode(answer.json)}, Retry-After ${answer.retryAfter}`;
  });
}

/** Leaves bg-removal with too little memory. */
export async function checkLittleMemory(report: Report, setting: ComposeSetting): Promise<void> {
  await report.check('with too little memory for the model, health says how much it needs', async () => {
    const compose = composeFor({ ...setting, env: { ...setting.env, BG_REMOVAL_MEMORY: '700m' } });
    await compose('up', '-d', '--no-build', '--no-deps', '--scale', 'bg-removal=1', 'bg-removal');
    const client = await containerOf('client');
    const { json } = await healthUntil(client, '/bg-removal/api/health', 503, 'error');
    const text = JSON.stringify(json);
    assert.match(text, /needs \d+ MiB/);
    const { State, RestartCount } = await inspect(await containerOf('bg-removal'));
    assert.deepEqual([State.Running, RestartCount], [true, 0]);
    return /The model needs[^.]*\./.exec(text)?.[0];
  });
}

/** With the limits that deployment.md names for a machine of 2 GB; those of video-dl are for one of 1 GB too. */
export async function checkSmallMachine(report: Report, setting: ComposeSetting): Promise<void> {
  await report.check('800 MiB for video-dl and 1100 MiB for bg-removal suffice', async () => {
    const env = { ...setting.env, VIDEO_DL_MEMORY: '800m', BG_REMOVAL_MEMORY: '1100m' };
    const services = ['video-dl', 'bg-removal'] as const;
    const single = services.flatMap((service) => ['--scale', `${service}=1`]);
    await composeFor({ ...setting, env })('up', '-d', '--no-build', '--no-deps', ...single, ...services);
    const client = await containerOf('client');
    await healthUntil(client, '/api/health', 200, 'ok');
    const page = (number: number) => `/api/stream/video?url=${filmPage(source, 0, number)}&start=1.1`;
    const films = [901, 902].map((number) =>
      inBackground(download(client, { path: page(number), to: `/tmp/small-${number}.mp4`, id: 'small' })),
    );
    const picture = await request(await containerOf('client', 3), image);
    assert.equal(picture.status, 200, JSON.stringify(picture.json));
    for (const film of await Promise.all(films)) assert.ok(film.complete, JSON.stringify(film));
    for (const service of services) {
      const { State, RestartCount } = await inspect(await containerOf(service));
      assert.deepEqual([State.OOMKilled, State.Running, RestartCount], [false, true, 0], service);
    }
  });
}
