import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSampleSite, type SampleSite } from '../dist/index.js';
import { scratch } from './support/scratch.js';

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

test('a file comes whole', async () => {
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

test('a page hands its faults on to the files', async () => {
  expect((await bodyOf('/film?cut=0.5')).toString()).toContain('src="/film-720.mp4?cut=0.5"');
});

test('a file that is cut breaks off', async () => {
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

test('what is not there is a 404', async () => {
  expect((await fetch(site.url('/nothing'))).status).toBe(404);
  expect((await fetch(site.url('/other.mp4'))).status).toBe(404);
});
