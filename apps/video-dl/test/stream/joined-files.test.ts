import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { inspect } from '../media/support/inspect.js';
import { startService, type TestService } from '../support/service.js';
import { receive, type Received } from './support/receive.js';

/** Files that were joined, such as the recordings of a radio stream. Their headers state the length of one part. */

let site: Site;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-joined-'));
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Serves the joined files. Returns their URL. */
async function joined(name: string, ...parts: string[]): Promise<string> {
  const path = join(folder, name);
  const files = await Promise.all(parts.map(async (part) => readFile(await media(part))));
  await writeFile(path, Buffer.concat(files));
  site.on(`/joined/${name}`, (request, response) => sendFile(request, response, path, 'video/mp2t'));
  return `${site.url}/joined/${name}`;
}

const stream = async (url: string, path: string, query = ''): Promise<Received> =>
  receive(`${service.url}/api/${path}?url=${encodeURIComponent(url)}${query}`);

async function secondsOf({ body }: Received, name: string): Promise<number[]> {
  const path = join(folder, name);
  await writeFile(path, body);
  return (await inspect(path)).streams.map(({ duration }) => duration ?? NaN);
}

it.each([
  ['stream.ts', 'stream/video', ['front.ts', 'front.ts'], 8],
  ['chain.ogg', 'stream', ['sound.ogg', 'sound.ogg'], 8],
] as const)('%s has an unknown length, and all of its media', async (name, path, parts, seconds) => {
  const url = await joined(name, ...parts);
  expect(await service.info(url)).toMatchObject({ status: 200, body: { duration: null } });
  const received = await stream(url, path);
  expect(received).toMatchObject({ status: 200, complete: true });
  expect(received.headers).not.toHaveProperty('x-content-duration');
  const tracks = await secondsOf(received, path === 'stream' ? 'result.mp3' : 'result.mp4');
  expect(tracks).toHaveLength(path === 'stream' ? 1 : 2);
  for (const track of tracks) expect(Math.abs(track - seconds)).toBeLessThan(0.3);
});

it('a transport stream whose clock jumps has an unknown length', async () => {
  expect(await service.info(`${site.url}/media/jump.ts`)).toMatchObject({ body: { duration: null } });
});

it('joined MP3 files have the length of both', async () => {
  const url = await joined('both.mp3', 'sound.mp3', 'vbr.mp3');
  const { body } = await service.info(url);
  expect(Math.abs(Number(body['duration']) - 8)).toBeLessThan(0.3);
  const received = await stream(url, 'stream');
  expect(received).toMatchObject({ status: 200, complete: true });
  expect(received.headers['x-content-duration']).toBe(String(body['duration']));
  expect(received.body.length).toBe((await readFile(join(folder, 'both.mp3'))).length);
});

it('joined FLAC files are not converted, but sent unchanged as original audio', async () => {
  const url = await joined('both.flac', 'sound.flac', 'sound.flac');
  expect(await service.info(url)).toMatchObject({ status: 200, body: { duration: null, downloads: [] } });
  const mp3 = await stream(url, 'stream');
  expect(mp3.status).toBe(422);
  expect(JSON.parse(mp3.body.toString())).toMatchObject({ code: 'no_media', retryable: false });
  const original = await stream(url, 'stream', '&fmt=original');
  expect(original).toMatchObject({ status: 200, complete: true });
  expect(original.body.length).toBe((await readFile(join(folder, 'both.flac'))).length);
});

it.each([
  ['fragments.mp4', { status: 200, body: { duration: null, downloads: [] } }],
  // ffprobe reads it and meets the second part.
  ['fragments.m4a', { status: 422, body: { code: 'no_media', retryable: false } }],
] as const)('joined %s are rejected before the first byte', async (name, info) => {
  const url = await joined(`both-${name}`, name, name);
  expect(await service.info(url)).toMatchObject(info);
  for (const path of ['stream', 'stream/video']) {
    const { status, body } = await stream(url, path);
    expect(status).toBe(422);
    expect(JSON.parse(body.toString())).toMatchObject({ code: 'no_media', retryable: false });
  }
});
