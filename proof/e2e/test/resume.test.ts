import { spawn } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isNight } from '../../vitest/at-night.js';
import { newClient } from './support/client.js';
import { stack } from './support/stack.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-resume-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const paths = { mp4: '/api/stream/video?fmt=mp4-1080&', mp3: '/api/stream?' } as const;
type Kind = keyof typeof paths;

const address = (base: string, kind: Kind, page: string) =>
  `${base}${paths[kind]}url=${encodeURIComponent(`${stack.films}${page}`)}`;

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function undisturbed(kind: Kind, page: string): Promise<Buffer> {
  await using client = await newClient();
  const response = await fetch(address(client.url, kind, page));
  return Buffer.from(await response.arrayBuffer());
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Lets curl resume a file, and kills it once the file has a given size. */
async function downloadUpTo(bytes: number, file: string, url: string): Promise<void> {
  const start = sizeOf(file);
  const curl = spawn('curl', ['-sS', '-f', '-C', String(start), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(curl, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  let missing = bytes - start;
  for await (const chunk of curl.stdout as AsyncIterable<Buffer>) {
    appendFileSync(file, chunk.subarray(0, missing));
    missing -= chunk.length;
    if (missing > 0) continue;
    curl.kill('SIGKILL');
    break;
  }
  const [code, signal] = await exited;
  expect([0, 'SIGKILL']).toContain(code ?? signal);
}

const seenSchema = z.object({ requests: z.array(z.object({ range: z.string().nullable() })) });

/** The ranges of all media requests to the site. */
async function siteRanges(): Promise<(string | null)[]> {
  const { requests } = seenSchema.parse(await (await fetch(`${stack.films}/seen`)).json());
  return requests.map(({ range }) => range);
}

it.each([
  ['an MP4 that is passed on', 'mp4'],
  ['an MP3 of exact length', 'mp3'],
] as const)('%s: killed often at any byte and resumed, it is what undisturbed it is', async (_, kind) => {
  const times = isNight ? 10 : 4;
  const page = '/watch?media=film-1080.mp4';
  const expected = await undisturbed(kind, page);
  await using client = await newClient();
  const url = address(client.url, kind, page);
  const file = join(folder, `film.${kind}`);
  const kills: number[] = [];
  const asked: (string | null)[] = [];
  const missing: string[] = [];
  for (let left = times; left >= 0 && sizeOf(file) < expected.length; left -= 1) {
    const start = sizeOf(file);
    const step = Math.ceil((expected.length - start) / (left + 1));
    const kill = left === 0 ? Infinity : start + randomInt(1, step + 1);
    const before = await siteRanges();
    await downloadUpTo(kill, file, url);
    kills.push(kill);
    if (start === 0) continue;
    asked.push(...(await siteRanges()).slice(before.length));
    missing.push(`bytes=${start}-${expected.length - 1}`);
  }
  expect({ kills, sha256: sha256(readFileSync(file)) }).toEqual({ kills, sha256: sha256(expected) });
  expect(missing).toHaveLength(times);
  if (kind === 'mp4') expect(asked).toEqual(missing);
});

it.each([
  ['with If-Range', true],
  ['without it', false],
])(
  'an open range of a file that has changed meanwhile gets the whole new file, %s',
  async (_, withIfRange) => {
    await using client = await newClient();
    const name = `changing-${String(withIfRange)}.mp4`;
    const url = address(client.url, 'mp4', `/watch?media=${name}`);
    copyFileSync(join(stack.folder, 'film-720.mp4'), join(stack.folder, name));
    const first = await fetch(url);
    await first.arrayBuffer();
    copyFileSync(join(stack.folder, 'film-1080.mp4'), join(stack.folder, name));

    const validator = withIfRange ? { 'If-Range': first.headers.get('etag') ?? '' } : undefined;
    const second = await fetch(url, { headers: { Range: 'bytes=100000-', ...validator } });

    expect(second.status).toBe(200);
    const bytes = Buffer.from(await second.arrayBuffer());
    expect(sha256(bytes)).toBe(sha256(readFileSync(join(stack.folder, 'film-1080.mp4'))));
  },
);

/** Applies to one response, not the whole stream. */
const ownHeaders = new Set(['date', 'server-timing', 'x-request-id', 'connection', 'transfer-encoding']);

const told = ({ status, headers }: Response) => ({
  status,
  headers: Object.fromEntries([...headers].filter(([name]) => !ownHeaders.has(name))),
});

it.each([
  ['an MP4 that is passed on', 'mp4', '/film', true],
  ['an MP4 that is made', 'mp4', '/film-hls', false],
  ['an MP3 of exact length', 'mp3', '/film', true],
  ['an MP3 of estimated length', 'mp3', '/film-hls', false],
] as const)('HEAD tells the headers of GET: %s', async (_, kind, page, isExact) => {
  await using client = await newClient();
  const url = address(client.url, kind, page);
  const get = await fetch(url);
  await get.arrayBuffer();
  const head = told(await fetch(url, { method: 'HEAD' }));
  expect(head).toEqual(told(get));
  expect(head.headers).toMatchObject({
    'accept-ranges': isExact ? 'bytes' : 'none',
    'x-accel-buffering': 'no',
  });
  expect(head.headers[isExact ? 'content-length' : 'estimated-content-length']).toMatch(/^\d+$/u);
});
