import { text } from 'node:stream/consumers';
import { MediaServicesClient, MediaServicesError } from '../dist/index.js';
import { brokenFile, file, problem, startServer } from './support/server.js';

const page = 'https://example.com/film?a=1&b=2';

async function errorOf(attempt: Promise<unknown>): Promise<MediaServicesError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MediaServicesError)) throw new Error(`not refused as expected: ${String(error)}`);
  return error;
}

test('a stream has its name, type and length, and arrives whole', async () => {
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

test('a stream that breaks off is never taken for whole', async () => {
  await using server = await startServer(brokenFile);
  const media = await new MediaServicesClient({ baseUrl: server.url }).audio(page);

  const error = await errorOf(text(media.body));

  expect(error).toMatchObject({ code: 'stream_broken', retryable: true });
});

test('a refusal is one error class, told by its code, and not tried again', async () => {
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

test('what is retryable is tried again after as long as Retry-After says', async () => {
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

test('a wait that is longer than allowed is the error itself', async () => {
  await using server = await startServer(
    problem(429, 'rate_limited', { retryable: true, headers: { 'Retry-After': '3600' } }),
  );

  const error = await errorOf(new MediaServicesClient({ baseUrl: server.url }).info(page));

  expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3600 });
});

test('nobody there, and somebody else there', async () => {
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

test('an abort ends a request before its answer, within its stream, and a wait', async () => {
  await using server = await startServer(
    () => undefined,
    (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'audio/mpeg' });
      res.write('half');
    },
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

  const waiting = new AbortController();
  const waited = client.audio(page, { signal: waiting.signal, onRetry: () => waiting.abort() });
  await expect(waited).rejects.toMatchObject({ name: 'AbortError' });
});
