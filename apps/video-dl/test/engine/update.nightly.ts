import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Faults, media, recipes, type Site, startSite } from '@media-services/fault-site';
import { inspect } from '../media/support/inspect.js';
import { receive } from '../deliver/support/receive.js';
import { startService, type TestService } from '../support/service.js';
import { Releases } from './support/releases.js';

let site: Site;
let releases: Releases;
let service: TestService;
let folder: string;

beforeAll(async () => {
  site = await startSite({ intercept: new Faults().intercept });
  folder = await mkdtemp(join(tmpdir(), 'streams-'));
  releases = await Releases.open();
  service = await startService({
    ALLOWED_PRIVATE_SOURCES: site.host,
    ENGINE_PROCESSES: '2',
    YTDLP_PYTHON: releases.python,
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await releases[Symbol.asyncDispose]();
  await site.close();
  await rm(folder, { recursive: true });
});

/** A page whose video arrives at playback speed, so that the stream lasts as long as the video. */
async function pageOf(name: string): Promise<{ page: string; seconds: number }> {
  const { size } = await stat(await media(name));
  const seconds = recipes[name]?.durationSeconds ?? NaN;
  return { page: `${site.url}/watch?media=${name}&slow=${Math.ceil(size / seconds)}`, seconds };
}

const kinds = [
  { kind: 'MP3', name: 'two-minutes.mp4', path: '/api/stream', file: 'sound.mp3' },
  { kind: 'MP4 passed on', name: 'two-minutes.mp4', path: '/api/stream/video', file: 'passed-on.mp4' },
  { kind: 'MP4 muxed', name: 'two-minutes.mkv', path: '/api/stream/video', file: 'muxed.mp4' },
];

it('streams of two minutes survive two restarts of all engines during extractions', async () => {
  const streams = kinds.map(async ({ kind, name, path, file }) => {
    const { page, seconds } = await pageOf(name);
    const url = `${service.url}${path}?url=${encodeURIComponent(page)}`;
    const startedAt = performance.now();
    const { status, complete, body } = await receive(url);
    const tookSeconds = (performance.now() - startedAt) / 1000;
    await writeFile(join(folder, file), body);
    const { format } = await inspect(join(folder, file));
    process.stdout.write(
      `${kind}: ${body.length} bytes in ${tookSeconds.toFixed(0)} s, ${format.duration} s long\n`,
    );
    return { kind, status, complete, isWhole: Math.abs((format.duration ?? 0) - seconds) < 0.2 };
  });
  const ended = Promise.all(streams);
  let streaming = true;
  void ended.finally(() => (streaming = false)).catch(() => undefined);

  for (const version of ['2999.1.1', '2999.1.2']) {
    await releases.publish('good', version);
    const [outcome, ...answers] = await Promise.all([
      service.context.updater.update(),
      ...Array.from({ length: 6 }, async (_, index) =>
        service.info(`${site.url}/watch?during=${version}-${index}`),
      ),
    ]);
    expect(outcome).toBe('updated');
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(service.context.engine.health().ready?.version).toBe(version);
  }
  expect(streaming).toBe(true);
  await expect(service.context.updater.update()).resolves.toBe('current');

  const whole = { status: 200, complete: true, isWhole: true };
  expect(await ended).toEqual(kinds.map(({ kind }) => ({ kind, ...whole })));
}, 400_000);

it('does not take a release that fails its self-test', async () => {
  const { engine, updater } = service.context;
  const before = engine.health().ready?.version;
  await releases.publish('broken', '2999.1.3');
  await expect(updater.update()).resolves.toBe('failed');
  expect(await service.info(`${site.url}/watch?after=broken`)).toMatchObject({ status: 200 });
  expect(engine.health().ready?.version).toBe(before);
});

it('takes back a release that does not start in the place of the old one', async () => {
  const { engine, updater } = service.context;
  const before = engine.health().ready?.version;
  await releases.publish('fickle', '2999.1.4');
  await expect(updater.update()).resolves.toBe('rolled_back');
  expect(await service.info(`${site.url}/watch?after=rollback`)).toMatchObject({ status: 200 });
  expect(engine.health().ready?.version).toBe(before);
});

it('leaves the old version running if no release is available', async () => {
  const { engine, updater } = service.context;
  const before = engine.health().ready?.version;
  releases.withdraw();
  await expect(updater.update()).resolves.toBe('failed');
  expect(await service.info(`${site.url}/watch?after=failure`)).toMatchObject({ status: 200 });
  expect(engine.health().ready?.version).toBe(before);
});
