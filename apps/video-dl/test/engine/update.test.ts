import { setTimeout as delay } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import { media, type Site, startSite } from '@media-services/fault-site';
import { startService, type TestService } from '../support/service.js';
import { Releases } from './support/releases.js';
import { downloadEngineCheck } from '../../dist/api/health.js';

/** Later than every real release. */
const newVersion = '2999.1.1';

describe('an update of yt-dlp in the running service', () => {
  let site: Site;
  let service: TestService;
  let releases: Releases;

  beforeAll(async () => {
    site = await startSite();
    releases = await Releases.open();
    service = await startService({
      ALLOWED_PRIVATE_SOURCES: site.host,
      ENGINE_PROCESSES: '2',
      YTDLP_PYTHON: releases.python,
      SOURCE_IDLE_TIMEOUT_SECONDS: '300',
      FIRST_BYTE_TIMEOUT_SECONDS: '300',
      // The held video sends nothing while pip installs, which may take longer than the minute that a slow source gets.
      SOURCE_MIN_BYTES_PER_MINUTE: '0',
    });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await releases[Symbol.asyncDispose]();
    await site.close();
  });

  it('that fails its self-test is not taken', async () => {
    const before = service.context.engine.health().ready?.version;
    await releases.publish('broken', newVersion);
    await expect(service.context.updater.update()).resolves.toBe('failed');
    expect(await service.info(`${site.url}/watch?after=broken`)).toMatchObject({ status: 200 });
    expect(service.context.engine.health().ready?.version).toBe(before);
  });

  it('that is good is taken by all engines while a stream goes on', async () => {
    const film = await readFile(await media('front.mp4'));
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let asked = (): void => undefined;
    const reached = new Promise<void>((resolve) => (asked = resolve));
    site.on('/held.mp4', async (req, res) => {
      res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': film.length });
      res.write(film.subarray(0, film.length - 1000));
      if (req.headers.range === undefined || req.headers.range === 'bytes=0-') {
        asked();
        await released;
      }
      res.end(film.subarray(film.length - 1000));
    });
    site.on('/held', (_req, res) => {
      res.setHeader('content-type', 'text/html').end('<title>Held</title><video src="/held.mp4"></video>');
    });
    const streamed = service.get('/api/stream', { url: `${site.url}/held` }).then(async (response) => ({
      status: response.status,
      bytes: (await response.arrayBuffer()).byteLength,
    }));
    await reached;

    await releases.publish('good', newVersion);
    const extractions = Promise.all(
      Array.from({ length: 6 }, async (_, index) => service.info(`${site.url}/watch?during=${index}`)),
    );
    await expect(service.context.updater.update()).resolves.toBe('updated');
    for (const answer of await extractions) expect(answer.status).toBe(200);
    expect(await service.info(`${site.url}/watch?after`)).toMatchObject({ status: 200 });
    while (service.context.engine.health().enginesReady < 2) await delay(20);
    expect(service.context.engine.health()).toMatchObject({ ready: { version: newVersion } });

    release();
    const { status, bytes } = await streamed;
    expect(status).toBe(200);
    expect(bytes).toBeGreaterThan(90_000);
    await expect(service.context.updater.update()).resolves.toBe('current');
  });
});

const signal = new AbortController().signal;

/** The check's result for an engine whose yt-dlp is `ageDays` old. */
async function healthAt(ageDays: number) {
  const ready = { version: '2026.01.01', ageDays, javascriptRuntime: 'deno 2.6', networkLock: 'kernel' };
  const health = { status: 'ready', ready: { ...ready, potProvider: null }, enginesReady: 1, active: 0 };
  const engine = { health: () => health, run: () => Promise.resolve({}) };
  type Checked = Parameters<typeof downloadEngineCheck>[0];
  return downloadEngineCheck({
    engine: engine as unknown as Checked['engine'],
    extraction: { degradation: undefined },
  }).check(signal);
}

it.each([
  [30, 'ok', undefined],
  [90, 'ok', expect.stringContaining('update it soon')],
  [91, 'degraded', expect.stringContaining('older than 90 days')],
])('reports a yt-dlp of %d days as %s', async (ageDays, status, message: unknown) => {
  const result = await healthAt(ageDays);
  expect({ status: result.status, message: result['message'] }).toEqual({ status, message });
});
