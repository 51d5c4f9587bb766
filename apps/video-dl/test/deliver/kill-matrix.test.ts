import { kill } from 'node:process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Faults, media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { open, receive } from './support/receive.js';
import type { Answer } from './support/receive.js';
import { ServiceProcess } from './support/service-process.js';
import type { Footprint } from './support/service-process.js';

const limitMs = 1000;

let site: Site;
let service: ServiceProcess;
let calm: Footprint;
let mediaHangs = false;
let isMediaAsked = false;
let counter = 0;

// The limit is one second of wall-clock time, which a busy machine may miss.
beforeAll(async () => {
  const faults = new Faults();
  site = await startSite({ intercept: faults.intercept });
  site.on('/hangs', () => undefined);
  site.on('/media/on-command.mkv', async (req, res) => {
    isMediaAsked = true;
    if (!mediaHangs) await sendFile(req, res, await media('long.mkv'), 'video/x-matroska');
  });
  service = await startService();
  // One request of each kind, so that everything that stays open permanently is open.
  await receive(streamUrl('/media/front.mp4', 'mp3'));
  await receive(streamUrl('/media/front.mp4', 'mp4'));
});

beforeEach(async () => {
  mediaHangs = false;
  calm = await settled();
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

/** Starts a service and waits for its second parser, which would look like something left behind. */
async function startService(): Promise<ServiceProcess> {
  const started = await ServiceProcess.start({ ALLOWED_PRIVATE_SOURCES: site.host, STREAMS_MAX: '1' });
  await until(async () => (await started.metric('media_parser_ready')) === 2);
  return started;
}

type Kind = 'mp3' | 'mp4';

/** At 300 kB/s the 4.9 MB last longer than any test. Matroska is remuxed; an MP4 would be sent unchanged. */
const slowPage = (file = 'long.mkv'): string => `/watch?media=${file}&slow=300000&n=${(counter += 1)}`;

function streamUrl(page: string, kind: Kind): string {
  return `${service.url}/api/stream${kind === 'mp3' ? '' : '/video'}?url=${encodeURIComponent(`${site.url}${page}`)}`;
}

/** The footprint once it is stable. */
async function settled(): Promise<Footprint> {
  let last = await service.footprint();
  for (;;) {
    await delay(200);
    const next = await service.footprint();
    if (JSON.stringify(next) === JSON.stringify(last) && next.children.length === 0) return next;
    last = next;
  }
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await delay(5);
}

/** Fails unless everything that belongs to a request is gone within the limit. */
async function expectCalm(): Promise<void> {
  const deadline = performance.now() + limitMs;
  let now = await service.footprint();
  while (performance.now() < deadline && (now.children.length > 0 || now.sockets > calm.sockets)) {
    await delay(10);
    now = await service.footprint();
  }
  expect(now.children).toEqual([]);
  expect(now.sockets).toBeLessThanOrEqual(calm.sockets);
  expect(now.temporaryFiles).toEqual([]);
}

const hasFfmpeg = async (): Promise<boolean> => [...(await service.children()).values()].includes('ffmpeg');

async function flowing(kind: Kind): Promise<Answer> {
  const answer = await open(streamUrl(slowPage(), kind));
  expect(answer.response.statusCode).toBe(200);
  await new Promise((resolve) => answer.response.once('data', resolve));
  return answer;
}

function ended(answer: Answer): Promise<boolean> {
  return new Promise((resolve) => {
    answer.response.on('error', () => undefined);
    answer.response.on('close', () => resolve(answer.response.complete));
    answer.response.resume();
  });
}

describe('the client disconnects', () => {
  it.each<Kind>(['mp4', ...atNight<Kind>(['mp3'])])('while its page is extracted (%s)', async (kind) => {
    const abort = new AbortController();
    const gone = receive(streamUrl(`/hangs?n=${(counter += 1)}`, kind), { signal: abort.signal }).catch(
      () => 'gone',
    );
    await until(() =>
      site.requests.some(({ path, query }) => path === '/hangs' && query.get('n') === String(counter)),
    );
    abort.abort();
    await expect(gone).resolves.toBe('gone');
    await expectCalm();
  });

  it('while it waits for a slot', async () => {
    const first = await flowing('mp4');
    const abort = new AbortController();
    const queued = receive(streamUrl(slowPage(), 'mp4'), { signal: abort.signal }).catch(() => 'gone');
    await until(async () => (await service.metric('media_streams_queued')) === 1);
    abort.abort();
    await expect(queued).resolves.toBe('gone');
    await until(async () => (await service.metric('media_streams_queued')) === 0);
    first.request.destroy();
    await expectCalm();
  });

  it.each<Kind>(['mp3', ...atNight<Kind>(['mp4'])])('before the first byte (%s)', async (kind) => {
    const page = `/watch?media=on-command.mkv&n=${(counter += 1)}`;
    await fetch(`${service.url}/api/info?url=${encodeURIComponent(`${site.url}${page}`)}`, {
      headers: { connection: 'close' },
    });
    mediaHangs = true;
    isMediaAsked = false;
    const abort = new AbortController();
    const gone = receive(streamUrl(page, kind), { signal: abort.signal }).catch(() => 'gone');
    await until(() => isMediaAsked);
    abort.abort();
    await expect(gone).resolves.toBe('gone');
    await expectCalm();
  });

  it.each(['mp3', 'mp4'] as const)('during the stream (%s)', async (kind) => {
    const answer = await flowing(kind);
    expect(await hasFfmpeg()).toBe(true);
    answer.request.destroy();
    await expectCalm();
    expect(await service.metric('media_streams_in_flight')).toBe(0);
  });

  it('during a file that is sent unchanged', async () => {
    const answer = await open(streamUrl(slowPage('long.mp4'), 'mp4'));
    await new Promise((resolve) => answer.response.once('data', resolve));
    expect(await hasFfmpeg()).toBe(false);
    answer.request.destroy();
    await expectCalm();
    expect(await service.metric('media_streams_in_flight')).toBe(0);
  });

  it('during the stream, after it stopped reading', async () => {
    const answer = await open(streamUrl(slowPage(), 'mp4'));
    answer.response.pause();
    await until(hasFfmpeg);
    await delay(300);
    answer.request.destroy();
    await expectCalm();
  });
});

describe('ffmpeg is killed', () => {
  it.each<Kind>(['mp3', ...atNight<Kind>(['mp4'])])(
    'during a stream: the client gets a reset (%s)',
    async (kind) => {
      const answer = await flowing(kind);
      for (const [pid, name] of await service.children()) if (name === 'ffmpeg') kill(pid, 'SIGKILL');
      await expect(ended(answer)).resolves.toBe(false);
      await expectCalm();
      expect((await receive(streamUrl('/media/front.mp4', kind))).complete).toBe(true);
    },
  );
});

describe('the download engine is killed', () => {
  const killEngine = async (): Promise<void> => {
    for (const [pid, name] of await service.children()) if (name.startsWith('python')) kill(pid, 'SIGKILL');
  };

  it('during an extraction: the client gets a 5xx, the next request works', async () => {
    const answer = receive(streamUrl(`/hangs?n=${(counter += 1)}`, 'mp4'));
    await until(() =>
      site.requests.some(({ path, query }) => path === '/hangs' && query.get('n') === String(counter)),
    );
    await killEngine();
    const { status, headers } = await answer;
    expect(status).toBe(503);
    expect(headers['retry-after']).toBeDefined();
    await until(async () => (await receive(streamUrl('/media/front.mp4', 'mp4'))).status === 200);
  });

  it('during a stream: the stream continues', async () => {
    const answer = await open(streamUrl('/watch?media=front.mp4&slow=400000', 'mp4'));
    await killEngine();
    await expect(ended(answer)).resolves.toBe(true);
  });
});

describe('SIGTERM', () => {
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
    service = await startService();
  });

  it.each<Kind>(['mp4', ...atNight<Kind>(['mp3'])])(
    'during a stream: reset, exit code 0, nothing left (%s)',
    async (kind) => {
      const answer = await flowing(kind);
      const children = [...(await service.children()).keys()];
      expect(children.length).toBeGreaterThanOrEqual(2);
      service.stop('SIGTERM');
      await expect(ended(answer)).resolves.toBe(false);
      await expect(service.exited).resolves.toBe(0);
      await until(() => children.every((pid) => !isAlive(pid)));
    },
  );
});

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
