import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  drawSamplePicture,
  film,
  makeSampleFilm,
  startSampleSite,
  type SampleSite,
} from '@media-services/fault-site';
import { freePort, startStack, type Stack } from '@media-services/stack';
import { expectProblem } from './support/problem.js';
import { descendantsOf } from './support/process-tree.js';

// Both real services behind the real gateway: what only shows when all are there.
let folder: string;
let site: SampleSite;
let privateSite: SampleSite;
let stack: Stack;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'whole-stack-'));
  await makeSampleFilm(folder);
  privateSite = await startSampleSite(folder);
  site = await startSampleSite(folder);
  stack = await startStack({
    port: await freePort(),
    freeServicePorts: true,
    logsDir: join(folder, 'logs'),
    env: { ...process.env, ALLOWED_PRIVATE_SOURCES: site.host },
  });
  await stack.healthy();
}, 180_000);

afterAll(async () => {
  const parts = ['gateway', 'video-dl', 'bg-removal'].map((name) => stack.pidOf(name));
  const all = [...parts, ...parts.flatMap((pid) => descendantsOf(pid).map((each) => each.pid))];
  await stack.stop();
  await Promise.all([site, privateSite].map((each) => each[Symbol.asyncDispose]()));
  rmSync(folder, { recursive: true, force: true });
  expect(all.filter(isAlive)).toEqual([]);
}, 60_000);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const filmPage = (faults = '') => site.url(`/watch?media=film-1080.mp4${faults}`);

const address = (path: string, page: string, extra = '') =>
  `${stack.url}${path}?url=${encodeURIComponent(page)}${extra}`;

const converters = () =>
  descendantsOf(stack.pidOf('video-dl')).filter(({ command }) => /\bff(mpeg|probe)\b/.test(command));

async function noConverterLeft(): Promise<void> {
  while (converters().length > 0) await delay(20);
}

test('health is merged from both', async () => {
  const response = await fetch(`${stack.url}/api/health`);

  expect(response.status).toBe(200);
  const { services } = (await response.json()) as { services: Record<string, { checks: object }> };
  expect(Object.keys(services['video-dl']?.checks ?? {})).toEqual(
    expect.arrayContaining(['downloadEngine', 'muxingEngine']),
  );
  expect(services['bg-removal']?.checks).toHaveProperty('engine');
});

test('a film comes through whole', async () => {
  const response = await fetch(address('/api/stream/video', filmPage(), '&fmt=mp4-1080'));

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('video/mp4');
  expect(Math.round(Number(response.headers.get('x-content-duration')))).toBe(film.durationSeconds);
  const body = await response.arrayBuffer();
  expect(body.byteLength).toBeGreaterThan(1_000_000);
  await noConverterLeft();
});

test('a film that its site never sends whole begins, and is reset where it ends', async () => {
  const response = await fetch(address('/api/stream/video', filmPage('&cut=0.5'), '&fmt=mp4-1080'));

  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow('terminated');
}, 120_000);

test('a client that goes away ends the converter and the reading of the site', async () => {
  const abort = new AbortController();
  const response = await fetch(address('/api/stream', filmPage('&rate=320000')), { signal: abort.signal });
  expect(response.status).toBe(200);
  expect(converters()).not.toHaveLength(0);
  const readerGone = site.readerGone();

  abort.abort();

  await Promise.all([noConverterLeft(), readerGone]);
});

test('a private address is refused, also when an allowed page redirects there', async () => {
  const direct = await fetch(address('/api/info', privateSite.url('/film')));
  await expectProblem(direct, 403, 'forbidden_address');

  const redirected = await fetch(
    address('/api/info', site.url(`/redirect?to=${encodeURIComponent(privateSite.url('/film'))}`)),
  );
  await expectProblem(redirected, 403, 'forbidden_address');
});

test("a request's id is in the logs of the gateway and of the service", async () => {
  await fetch(`${stack.url}/api/info`, { headers: { 'X-Request-Id': 'follow-me-1' } });

  for (const log of ['gateway.log', 'video-dl.log']) {
    while (!readFileSync(join(stack.logsDir, log), 'utf8').includes('"requestId":"follow-me-1"'))
      await delay(20);
  }
});

test('five uploads a minute, whatever the client says its address is', async () => {
  const { jpeg } = await drawSamplePicture();
  const upload = (index: number, content: Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    form.set('file', new Blob([content]), 'picture.jpg');
    const headers = { 'X-Forwarded-For': `203.0.113.${index}` };
    return fetch(`${stack.url}/api/remove-background`, { method: 'POST', body: form, headers });
  };
  const noPicture = new TextEncoder().encode('no picture');

  // What is refused is given back.
  await expectProblem(await upload(0, noPicture), 415, 'unsupported_media_type');
  for (let index = 1; index <= 5; index += 1) {
    const answer = await upload(index, new Uint8Array(jpeg));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    await answer.arrayBuffer();
  }
  await expectProblem(await upload(6, noPicture), 429, 'rate_limited');
}, 120_000);

test('a large upload over the limit is told so, instead of being cut off', async () => {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(14_000_000)], { type: 'image/jpeg' }), 'large.jpg');

  const response = await fetch(`${stack.url}/api/remove-background`, { method: 'POST', body: form });

  await expectProblem(response, 429, 'rate_limited');
});

test('an engine that is killed fails the request that it worked on, and no later one', async () => {
  const asked = site.asked('/hangs');
  const failing = fetch(address('/api/info', site.url('/hangs')));
  await asked;
  const engines = descendantsOf(stack.pidOf('video-dl')).filter(({ command }) => /engine.main/.test(command));
  expect(engines).not.toHaveLength(0);
  for (const { pid } of engines) process.kill(pid, 'SIGKILL');

  await expectProblem(await failing, 503, 'engine_unavailable');

  for (;;) {
    const next = await fetch(address('/api/info', filmPage('&again')));
    if (next.status === 200) break;
    await expectProblem(next, 503, 'engine_unavailable');
    await delay(1000 * Number(next.headers.get('retry-after')));
  }
}, 60_000);
