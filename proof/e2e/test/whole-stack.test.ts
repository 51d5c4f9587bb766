import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { film, startSampleSite, type SampleSite } from '@media-services/fault-site';
import { expectProblem } from '../../../nginx/test/support/problem.js';
import { newClient, type Client } from './support/client.js';
import { Contract } from './support/contract.js';
import { imageForm } from './support/form.js';
import { descendantsOf } from './support/process-tree.js';
import { stack } from './support/stack.js';

// Both services behind the gateway: tests that need the whole stack.
let site: SampleSite;
let privateSite: SampleSite;
let client: Client;

beforeAll(async () => {
  privateSite = await startSampleSite(stack.folder);
  // A site that this test can observe, on the other host that the stack may read.
  site = await startSampleSite(stack.folder, { address: stack.ownSiteAddress });
});

afterAll(async () => {
  await Promise.all([site, privateSite].map((each) => each[Symbol.asyncDispose]()));
});

beforeEach(async () => {
  client = await newClient();
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
});

const filmPage = (faults = '') => site.url(`/watch?media=film-1080.mp4${faults}`);

const address = (path: string, page: string, extra = '') =>
  `${client.url}${path}?url=${encodeURIComponent(page)}${extra}`;

const converters = () =>
  descendantsOf(stack.videoDlPid).filter(({ command }) => /\bff(mpeg|probe)\b/.test(command));

async function noConverterLeft(): Promise<void> {
  while (converters().length > 0) await delay(20);
}

test('health combines both services', async () => {
  const response = await fetch(`${client.url}/api/health`);

  expect(response.status).toBe(200);
  const { services } = (await response.json()) as { services: Record<string, { checks: object }> };
  expect(Object.keys(services['video-dl']?.checks ?? {})).toEqual(
    expect.arrayContaining(['downloadEngine', 'muxingEngine']),
  );
  expect(services['bg-removal']?.checks).toHaveProperty('engine');
});

test('a video arrives complete', async () => {
  const response = await fetch(address('/api/stream/video', filmPage(), '&fmt=mp4-1080'));

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('video/mp4');
  expect(Math.round(Number(response.headers.get('x-content-duration')))).toBe(film.durationSeconds);
  const body = await response.arrayBuffer();
  expect(body.byteLength).toBeGreaterThan(1_000_000);
  await noConverterLeft();
});

test('a video that the site never sends completely starts, then is reset', async () => {
  const response = await fetch(address('/api/stream/video', filmPage('&cut=0.5'), '&fmt=mp4-1080'));

  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow('terminated');
});

test('a client that leaves stops the conversion and the download from the site', async () => {
  const abort = new AbortController();
  const response = await fetch(address('/api/stream', filmPage('&rate=320000')), { signal: abort.signal });
  expect(response.status).toBe(200);
  expect(converters()).not.toHaveLength(0);
  const readerGone = site.readerGone();

  abort.abort();

  await Promise.all([noConverterLeft(), readerGone]);
});

test('a private address is rejected, even if an allowed page redirects there', async () => {
  const direct = await fetch(address('/api/info', privateSite.url('/film')));
  await expectProblem(direct, 403, 'forbidden_address');

  const redirected = await fetch(
    address('/api/info', site.url(`/redirect?to=${encodeURIComponent(privateSite.url('/film'))}`)),
  );
  await expectProblem(redirected, 403, 'forbidden_address');
});

test("a request's id is in the logs of the gateway and of the service", async () => {
  await fetch(`${client.url}/api/info`, { headers: { 'X-Request-Id': 'follow-me-1' } });

  for (const log of ['gateway.log', 'video-dl.log']) {
    while (!readFileSync(join(stack.logsDir, log), 'utf8').includes('"requestId":"follow-me-1"'))
      await delay(20);
  }
});

test('five images per minute, uploaded or by URL, whatever address the client claims; rejected images are refunded', async () => {
  const send = async (index: number, form: FormData) => {
    const headers = { 'X-Forwarded-For': `203.0.113.${index}` };
    return fetch(`${client.url}/api/remove-background`, { method: 'POST', body: form, headers });
  };
  const unknownField = new FormData();
  unknownField.append('x', '1');
  await expectProblem(await send(0, unknownField), 400, 'invalid_request');
  const byUrl = new FormData();
  byUrl.append('image_url', `${stack.films}/photo.jpg`);
  const uploads = await Promise.all(Array.from({ length: 4 }, () => imageForm()));
  const cutOut = async (form: FormData, index: number) => {
    const response = await send(index + 1, form);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-disposition')).toContain('photo.png');
    return Buffer.from(await response.arrayBuffer());
  };
  const first = await cutOut(byUrl, 0);
  // While they are made, so that a slow machine does not take more than the minute.
  const others = Promise.all(uploads.map((form, index) => cutOut(form, index + 1)));

  const contract = new Contract();
  const sendBytes = async (size: number) =>
    send(size, await imageForm({}, { bytes: new Uint8Array(size), name: 'large.jpg' }));
  // Until all five have arrived, the file is rejected for what it is.
  while ((await sendBytes(10)).status === 415) await delay(20);
  // The complete problem arrives for both a small and a large upload.
  for (const size of [10, 14_000_000]) {
    const response = await sendBytes(size);
    const violations = contract.violations('/api/remove-background', 'post', response.clone());
    await expectProblem(response, 429, 'rate_limited');
    expect(await violations).toEqual([]);
  }
  for (const other of await others) expect(other.equals(first)).toBe(true);
});

test('a killed engine fails only its current request', async () => {
  const asked = site.asked('/hangs');
  const failing = fetch(address('/api/info', site.url('/hangs')));
  await asked;
  const engines = descendantsOf(stack.videoDlPid).filter(({ command }) => /engine.main/.test(command));
  expect(engines).not.toHaveLength(0);
  for (const { pid } of engines) process.kill(pid, 'SIGKILL');

  await expectProblem(await failing, 503, 'engine_unavailable');

  for (;;) {
    const next = await fetch(address('/api/info', filmPage('&again')));
    if (next.status === 200) break;
    await expectProblem(next, 503, 'engine_unavailable');
    await delay(1000 * Number(next.headers.get('retry-after')));
  }
});
