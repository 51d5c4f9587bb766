import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSampleSite, type SampleSite } from '../src/index.js';
import { scratch } from '../../../packages/stack/test/support/scratch.js';

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
let site: SampleSite;

beforeAll(async () => {
  const folder = scratch();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'film-720.mp4'), bytes);
  site = await startSampleSite(folder);
});

afterAll(() => site[Symbol.asyncDispose]());

async function bodyOf(path: string, init: RequestInit = {}): Promise<Buffer> {
  const response = await fetch(site.url(path), init);
  return Buffer.from(await response.arrayBuffer());
}

test('a file arrives complete', async () => {
  const before = site.sentBytes();

  expect((await bodyOf('/film-720.mp4')).equals(bytes)).toBe(true);

  expect(site.sentBytes() - before).toBe(bytes.length);
});

test('a range is exactly that part', async () => {
  const response = await fetch(site.url('/film-720.mp4'), { headers: { Range: 'bytes=1000-1999' } });

  expect(response.status).toBe(206);
  expect(response.headers.get('content-range')).toBe(`bytes 1000-1999/${bytes.length}`);
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(1000, 2000))).toBe(true);
});

test('a range of another version of the file gets the whole file', async () => {
  const etag = (await fetch(site.url('/film-720.mp4'), { method: 'HEAD' })).headers.get('etag') ?? '';
  const part = (version: string) =>
    fetch(site.url('/film-720.mp4'), { headers: { Range: 'bytes=1000-', 'If-Range': version } });

  expect((await part(etag)).status).toBe(206);
  expect((await part('"another"')).status).toBe(200);
});

test('a range past the end of a file is rejected', async () => {
  const response = await fetch(site.url('/film-720.mp4'), { headers: { Range: `bytes=${bytes.length}-` } });

  expect(response.status).toBe(416);
  expect(response.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
});

test('requests are recorded', async () => {
  await bodyOf('/film-720.mp4', { headers: { Range: 'bytes=7-9' } });

  const { requests } = JSON.parse((await bodyOf('/seen')).toString()) as { requests: unknown[] };

  expect(requests.at(-1)).toEqual({ path: '/film-720.mp4', range: 'bytes=7-9' });
});

test('a page passes its faults on to the files', async () => {
  expect((await bodyOf('/film?rate=1000')).toString()).toContain('src="/film-720.mp4?rate=1000"');
});

test('a cut file ends early', async () => {
  await expect(bodyOf('/film-720.mp4?cut=0.5')).rejects.toThrow();
});

test('a reader that leaves is noticed', async () => {
  const gone = site.readerGone();
  const abort = new AbortController();
  const response = await fetch(site.url('/film-720.mp4?rate=1000'), { signal: abort.signal });
  expect(response.status).toBe(200);

  abort.abort();

  await gone;
});

test('a missing file is a 404', async () => {
  expect((await fetch(site.url('/nothing'))).status).toBe(404);
  expect((await fetch(site.url('/other.mp4'))).status).toBe(404);
});
