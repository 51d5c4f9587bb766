import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { MediaServicesClient, MediaServicesError } from '../src/index.js';
import { fileNameOf } from '../src/media.js';
import { saveTo } from '../src/node.js';
import { wait } from '../src/retry.js';
import { brokenAnswer, brokenFile, file, problem, rangedFile, startServer } from './support/server.js';

const page = 'https://example.com/film?a=1&b=2';

async function errorOf(attempt: Promise<unknown>): Promise<MediaServicesError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MediaServicesError))
    throw new Error(`expected a MediaServicesError, got: ${String(error)}`);
  return error;
}

test('returns a stream with its name, type and length', async () => {
  await using server = await startServer(
    file('video/mp4', 'film', {
      'Content-Disposition': `attachment; filename="Fim.mp4"; filename*=UTF-8''F%C3%AFlm%2F1.mp4`,
      'Estimated-Content-Length': '4',
      'X-Content-Duration': '12.5',
    }),
  );
  const seen: [number, number | undefined][] = [];

  const media = await new MediaServicesClient({ baseUrl: `${server.url}/` }).video(page, 'mp4-1080', {
    onProgress: (received, expected) => void seen.push([received, expected]),
  });

  expect(media).toMatchObject({ fileName: 'Fïlm_1.mp4', contentType: 'video/mp4', durationSeconds: 12.5 });
  expect(await text(media.body)).toBe('film');
  expect(seen.at(-1)).toEqual([4, 4]);
  expect(server.requests[0]?.url).toBe(`/api/stream/video?url=${encodeURIComponent(page)}&fmt=mp4-1080`);
});

test('sends numbers without an exponent and with at most six decimals', async () => {
  const bodies: Promise<string>[] = [];
  await using server = await startServer((req, res) => {
    bodies.push(text(req));
    req.once('end', () => file('image/png', 'png')(req, res));
  });
  const client = new MediaServicesClient({ baseUrl: server.url });

  await client.audio(page, { start: 0.1 * 3 - 0.3, end: 0.1 + 0.2 });
  await client.removeBackground(new Blob(['jpeg']), 'photo.jpg', {
    feather: 1e-7,
    threshold: 12.5,
    maxWidth: 800,
  });

  expect(server.requests[0]?.url).toMatch(/&start=0&end=0\.3$/);
  const form = (await bodies[1]) ?? '';
  expect([...form.matchAll(/name="(\w+)"\r\n\r\n(.*)\r\n/g)].map(([, name, value]) => [name, value])).toEqual(
    [
      ['threshold', '12.5'],
      ['feather', '0'],
      ['max_width', '800'],
    ],
  );
});

test('fails with stream_broken when the connection breaks', async () => {
  await using server = await startServer(brokenFile);
  const media = await new MediaServicesClient({ baseUrl: server.url }).audio(page);

  const error = await errorOf(text(media.body));

  expect(error).toMatchObject({ code: 'stream_broken', retryable: true });
});

test('resumes a broken download at the byte where it broke', async () => {
  await using server = await startServer(
    rangedFile('0123456789', { breakAfter: 4 }),
    rangedFile('0123456789', { breakAfter: 7 }),
    rangedFile('0123456789'),
  );
  const seen: number[] = [];

  const media = await new MediaServicesClient({ baseUrl: server.url }).audio(page, {
    onProgress: (received) => void seen.push(received),
  });

  expect(await text(media.body)).toBe('0123456789');
  expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=4-', 'bytes=7-']);
  expect(server.requests[1]?.headers['if-range']).toBe('"v1"');
  expect(seen.at(-1)).toBe(10);
});

test('closes the connection when a download is cancelled while it resumes', async () => {
  const closed: Promise<unknown>[] = [];
  await using server = await startServer(rangedFile('0123456789', { breakAfter: 4 }), (req, res) => {
    closed.push(once(res, 'close'));
    void reader.cancel().then(() => rangedFile('0123456789', { stallAfter: 7 })(req, res));
  });
  const { body } = await new MediaServicesClient({ baseUrl: server.url }).audio(page);
  const reader = body.getReader();
  await reader.read();
  expect(await reader.read()).toMatchObject({ done: true });
  await closed[0];
});

test('closes the connection when onProgress throws', async () => {
  const closed: Promise<unknown>[] = [];
  await using server = await startServer((req, res) => {
    closed.push(once(res, 'close'));
    rangedFile('0123456789', { stallAfter: 4 })(req, res);
  });
  const onProgress = () => {
    throw new Error('The page is gone.');
  };
  const { body } = await new MediaServicesClient({ baseUrl: server.url }).audio(page, { onProgress });
  await expect(text(body)).rejects.toThrow('The page is gone.');
  await closed[0];
});

test('does not join two versions of a file', async () => {
  await using server = await startServer(
    rangedFile('0123456789', { breakAfter: 4 }),
    rangedFile('abcdefghij', { etag: '"v2"' }),
  );

  const media = await new MediaServicesClient({ baseUrl: server.url }).audio(page);

  expect(await errorOf(text(media.body))).toMatchObject({ code: 'stream_broken' });
});

test('continues a part that an earlier request received', async () => {
  await using server = await startServer(rangedFile('0123456789'));
  const client = new MediaServicesClient({ baseUrl: server.url });

  const same = await client.audio(page, { resume: { bytes: 6, etag: '"v1"' } });
  expect(same).toMatchObject({ startByte: 6, expectedBytes: 10, etag: '"v1"' });
  expect(await text(same.body)).toBe('6789');

  const changed = await client.audio(page, { resume: { bytes: 6, etag: '"v0"' } });
  expect(changed.startByte).toBe(0);
  expect(await text(changed.body)).toBe('0123456789');
});

test.each([
  ['416, because the part has all bytes', 416, 'bytes */10'],
  ['a range that ends too early', 206, 'bytes 6-8/10'],
  ['another range', 206, 'bytes 5-9/10'],
  ['a range of a file of unknown size', 206, 'bytes 6-9/*'],
])('starts over when the response to a resumed download is %s', async (_name, status, range) => {
  await using server = await startServer((req, res) => {
    const headers = { 'Content-Type': 'audio/mpeg', 'Content-Range': range, ETag: '"v1"' };
    if (req.headers.range === undefined) file('audio/mpeg', '0123456789')(req, res);
    else res.writeHead(status, headers).end('???');
  });
  const media = await new MediaServicesClient({ baseUrl: server.url }).audio(page, {
    resume: { bytes: 6, etag: '"v1"' },
  });
  expect(media.startByte).toBe(0);
  expect(await text(media.body)).toBe('0123456789');
});

test('rejects a part of a file that it did not request', async () => {
  await using server = await startServer((_req, res) =>
    res.writeHead(206, { 'Content-Type': 'audio/mpeg', 'Content-Range': 'bytes 0-3/10' }).end('0123'),
  );
  const client = new MediaServicesClient({ baseUrl: server.url });
  expect(await errorOf(client.audio(page))).toMatchObject({ code: 'unexpected_answer' });
});

test('throws a problem as MediaServicesError without a retry', async () => {
  await using server = await startServer(problem(451, 'geo_blocked'));

  const error = await errorOf(new MediaServicesClient({ baseUrl: server.url }).info(page));

  expect(error).toMatchObject({
    code: 'geo_blocked',
    status: 451,
    message: 'detail of geo_blocked',
    requestId: 'id-1',
  });
  expect(server.requests).toHaveLength(1);
});

test('retries a retryable problem after Retry-After', async () => {
  await using server = await startServer(
    problem(503, 'overloaded', { retryable: true, headers: { 'Retry-After': '0' } }),
    file('image/png', 'png', { RateLimit: '"images-per-minute"; r=3; t=42', 'Content-Length': '3' }),
  );
  const waits: number[] = [];

  const media = await new MediaServicesClient({ baseUrl: server.url, key: 'secret' }).removeBackground(
    new Blob(['jpeg']),
    'photo.jpg',
    { threshold: 20, foregroundStrength: 1.5, onRetry: (_error, seconds) => void waits.push(seconds) },
  );

  expect(media).toMatchObject({ expectedBytes: 3, rateLimit: { remaining: 3, resetSeconds: 42 } });
  expect(waits).toEqual([0]);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer secret',
    'Bearer secret',
  ]);
  expect(server.requests[1]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
});

test('does not wait longer than maxWaitSeconds', async () => {
  await using server = await startServer(
    problem(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '3600' } }),
  );

  const error = await errorOf(new MediaServicesClient({ baseUrl: server.url }).info(page));

  expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3600 });
});

test('retries the 429 of a proxy after its Retry-After, which may be a date', async () => {
  await using server = await startServer(
    (_req, res) => res.writeHead(429, { 'Retry-After': '0' }).end('<h1>Slow down</h1>'),
    (_req, res) => res.writeHead(503, { 'Retry-After': 'Wed, 21 Oct 2015 07:28:00 GMT' }).end(),
    (_req, res) => res.writeHead(503, { 'Retry-After': 'Fri, 01 Jan 2100 00:00:00 GMT' }).end(),
  );
  const waits: number[] = [];
  const onRetry = (_error: Error, seconds: number) => void waits.push(seconds);
  const error = await errorOf(
    new MediaServicesClient({ baseUrl: server.url }).info(page, { onRetry, retries: 3 }),
  );
  expect(waits).toEqual([0, 0]);
  expect(error.message).toBe('Unexpected response (HTTP 503). Try again later.');
});

test('names the server that a redirect leads to when the request fails there', async () => {
  await using other = await startServer(problem(401, 'unauthorized'), problem(405, 'method_not_allowed'));
  await using server = await startServer((req, res) =>
    res.writeHead(301, { Location: `${other.url}${req.url}` }).end(),
  );
  const client = new MediaServicesClient({ baseUrl: server.url, key: 'secret' });
  for (const request of [client.info(page), client.removeBackground(new Blob(['a']), 'a.jpg')]) {
    const { message } = await errorOf(request);
    expect(message).toContain(`redirects to ${other.url}: if that is the gateway, use its URL.`);
  }
});

test('a wait of years does not end at once', async () => {
  const controller = new AbortController();
  const waited = wait(1e9, controller.signal);
  setTimeout(() => controller.abort(), 20);
  await expect(waited).rejects.toMatchObject({ name: 'AbortError' });
});

test('distinguishes an unreachable server from one that is not a gateway', async () => {
  const gone = await startServer(problem(500, 'x'));
  await gone[Symbol.asyncDispose]();
  const unreachable = await errorOf(
    new MediaServicesClient({ baseUrl: gone.url }).info(page, { retries: 0 }),
  );
  expect(unreachable).toMatchObject({ code: 'unreachable', retryable: true, status: 0 });
  expect(unreachable.message).toContain('ECONNREFUSED');

  await using other = await startServer(file('text/html', 'x'), (_req, res) =>
    res.writeHead(404).end('<html>'),
  );
  await fetch(other.url);
  const unexpected = await errorOf(new MediaServicesClient({ baseUrl: other.url }).info(page));
  expect(unexpected).toMatchObject({ code: 'unexpected_answer', status: 404, retryable: false });
});

test.each([
  ['breaks off in its JSON', brokenAnswer(200, 'application/json'), 'unreachable'],
  ['breaks off in its error', brokenAnswer(503, 'application/problem+json'), 'unreachable'],
  ['sends half of its JSON', file('application/json', '{"title":"A f'), 'unexpected_answer'],
  ['sends other JSON', file('application/json', '{"status":"ok"}'), 'unexpected_answer'],
])('throws a MediaServicesError when the server %s', async (_name, listener, code) => {
  await using server = await startServer(listener);
  const client = new MediaServicesClient({ baseUrl: server.url });
  expect(await errorOf(client.info(page, { retries: 0 }))).toMatchObject({ code });
});

test('does not return JSON as media', async () => {
  await using server = await startServer(file('application/json', '{"status":"ok"}'));
  const client = new MediaServicesClient({ baseUrl: server.url });
  expect(await errorOf(client.video(page))).toMatchObject({ code: 'unexpected_answer' });
});

const stalledFile = rangedFile('0123456789', { stallAfter: 4 });

test('aborts before the response, within a stream and during a wait', async () => {
  await using server = await startServer(
    () => undefined,
    stalledFile,
    stalledFile,
    problem(503, 'overloaded', { retryable: true, headers: { 'Retry-After': '60' } }),
  );
  const client = new MediaServicesClient({ baseUrl: server.url });
  const before = new AbortController();
  const asked = client.audio(page, { signal: before.signal });
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  before.abort();
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });

  const within = new AbortController();
  const { body } = await client.audio(page, { signal: within.signal });
  const read = text(body);
  within.abort();
  await expect(read).rejects.toMatchObject({ name: 'AbortError' });

  const timedOut = new AbortController();
  const timed = await client.audio(page, { signal: timedOut.signal });
  const timedRead = text(timed.body);
  const reason = new DOMException('Too slow', 'TimeoutError');
  timedOut.abort(reason);
  await expect(timedRead).rejects.toBe(reason);

  const waiting = new AbortController();
  const waited = client.audio(page, { signal: waiting.signal, onRetry: () => waiting.abort() });
  await expect(waited).rejects.toMatchObject({ name: 'AbortError' });
});

test.each([
  [`attachment; filename="a.mp3"; filename*=UTF-8''%E2%99%AB%20a.mp3`, '♫ a.mp3'],
  ['attachment; filename="say \\"hi\\".mp3"', 'say _hi_.mp3'],
  ['attachment; filename=plain.mp3', 'plain.mp3'],
  [`attachment; filename="ok.mp3"; filename*=UTF-8''%FF.mp3`, 'ok.mp3'],
  [`attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd`, '_.._etc_passwd'],
  ['attachment; filename="C:\\\\x.mp3"', 'C__x.mp3'],
  ['attachment; filename="con.tact.mp4"', '_con.tact.mp4'],
  ['attachment; filename="contact.mp4"', 'contact.mp4'],
  [`attachment; filename*=UTF-8''a%E2%80%AE4pm%C2%9B31m.mp4`, 'a_4pm_31m.mp4'],
  ['attachment; filename=".."', undefined],
  ['attachment', undefined],
  [null, undefined],
])('%s is %s', (header, name) => {
  expect(fileNameOf(header)).toBe(name);
});

test('keeps the extension of a long name', () => {
  expect(fileNameOf(`attachment; filename="${'x'.repeat(500)}.mp4"`)).toMatch(/^x{216}\.mp4$/);
});

test('health reports limits, even from a server that is not ready', async () => {
  const health = { status: 'error', limits: { streamsPerClient: 4 }, features: {}, services: {} };
  await using server = await startServer((_req, res) => {
    res.writeHead(503, { 'Content-Type': 'application/json' }).end(JSON.stringify(health));
  });
  expect(await new MediaServicesClient({ baseUrl: server.url }).health()).toEqual(health);

  await using broken = await startServer(problem(502, 'service_unavailable'));
  const { code } = await errorOf(new MediaServicesClient({ baseUrl: broken.url }).health());
  expect(code).toBe('service_unavailable');
});

describe('signedUrl', () => {
  const client = new MediaServicesClient({
    baseUrl: 'https://media.example/tools/media/',
    key: 'key-of-bob',
  });
  const hash = createHash('sha256').update('key-of-bob').digest('hex');

  test.each([
    ['a URL of streamUrl', client.streamUrl(page, 'mp3', { start: 5 })],
    ['a path of info', `/tools/media/api/stream?url=${encodeURIComponent(page)}&start=5`],
    ['a path without the base path', `/api/stream?url=${encodeURIComponent(page)}&start=5`],
  ])('signs %s without the base path', async (_name, url) => {
    const before = Math.floor(Date.now() / 1000);
    const signed = await client.signedUrl(url, { lifetimeSeconds: 60 });
    const parts =
      /^https:\/\/media\.example\/tools\/media(\/api\/stream\?.*&expires=(\d+))&signature=(.*)$/.exec(signed);
    const [, target = '', expires, signature] = parts ?? [];
    expect(target).toContain(`url=${encodeURIComponent(page)}&start=5`);
    expect(Number(expires) - before).toBeGreaterThanOrEqual(60);
    const mac = createHmac('sha256', hash).update(target).digest('hex');
    expect(signature).toBe(`${hash.slice(0, 16)}.${mac}`);
  });

  test('rejects what it cannot sign', async () => {
    await expect(client.signedUrl('https://other.example/api/stream?url=x')).rejects.toThrow(
      /not on this server/,
    );
    const keyless = new MediaServicesClient({ baseUrl: 'https://media.example' });
    await expect(keyless.signedUrl(keyless.streamUrl(page))).rejects.toThrow(/with a key/);
  });
});

describe('saveTo', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'client-save-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('continues a file that an earlier call left incomplete', async () => {
    await using server = await startServer(
      rangedFile('0123456789', { breakAfter: 4 }),
      rangedFile('0123456789'),
    );
    const client = new MediaServicesClient({ baseUrl: server.url });
    const target = join(folder, 'film.mp4');
    const save = () => saveTo(target, (resume) => client.video(page, 'mp4-720', { resume, retries: 0 }));

    await expect(save()).rejects.toMatchObject({ code: 'stream_broken' });
    expect(readdirSync(folder).sort()).toEqual(['film.mp4.part', 'film.mp4.part.etag']);
    await save();

    expect(server.requests[1]?.headers).toMatchObject({ range: 'bytes=4-', 'if-range': '"v1"' });
    expect(readFileSync(target, 'utf8')).toBe('0123456789');
    expect(readdirSync(folder)).toEqual(['film.mp4']);
  });

  test('leaves nothing behind if the file cannot be resumed', async () => {
    await using server = await startServer(brokenFile);
    const client = new MediaServicesClient({ baseUrl: server.url });
    const saving = saveTo(join(folder, 'film.mp4'), () => client.video(page, 'mp4-720', { retries: 0 }));
    await expect(saving).rejects.toMatchObject({ code: 'stream_broken' });
    expect(readdirSync(folder)).toEqual([]);
  });
});
