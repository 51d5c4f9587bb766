import { readFile } from 'node:fs/promises';
import { media, type Site, startSite } from '@media-services/fault-site';
import { mediaTools } from '../support/media-tools.js';
import { receive } from './support/receive.js';
import { extraction, format, StreamApp, stopSharedParsers } from './support/stream-app.js';

afterAll(stopSharedParsers);

let site: Site;
let service: StreamApp;

beforeEach(async () => {
  site = await startSite();
  const tools = await mediaTools();
  const found = extraction([format(`${site.url}/media/front.mp4`, { ext: 'mp4' })]);
  service = await new StreamApp({ ...tools, ffmpeg: '/bin/false', ffprobe: '/bin/false' }, found).start();
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const ask = (headers: Record<string, string>, method = 'GET', more = '') =>
  receive(service.url('mp4-720') + more, { method, headers });

// Download managers send HEAD, then several ranges at once, without If-Range.
it('ranges after HEAD get parts, because HEAD has told the version', async () => {
  const source = await readFile(await media('front.mp4'));
  const head = await ask({}, 'HEAD');
  expect(head.headers['accept-ranges']).toBe('bytes');
  const middle = Math.floor(source.length / 2);
  const parts = await Promise.all(
    [`bytes=0-${middle - 1}`, `bytes=${middle}-`].map((range) => ask({ range })),
  );
  expect(parts.map(({ status }) => status)).toEqual([206, 206]);
  expect(Buffer.concat(parts.map(({ body }) => body)).equals(source)).toBe(true);
});

it.each(['GET', 'HEAD'])('If-None-Match with the current ETag gets 304 for %s', async (method) => {
  const { headers } = await ask({}, 'HEAD');
  const etag = headers.etag ?? '';
  for (const known of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
    const answer = await ask({ 'if-none-match': known }, method);
    expect({ known, status: answer.status, etag: answer.headers.etag }).toEqual({ known, status: 304, etag });
    expect(answer.body).toHaveLength(0);
  }
  expect((await ask({ 'if-none-match': '"x"' }, method)).status).toBe(200);
});

it.each(['GET', 'HEAD'])('If-Match with another ETag gets 412 for %s', async (method) => {
  const etag = (await ask({}, 'HEAD')).headers.etag ?? '';
  for (const wanted of ['"x"', `W/${etag}`]) {
    const answer = await ask({ 'if-match': wanted }, method);
    expect({ wanted, status: answer.status }).toEqual({ wanted, status: 412 });
    if (method === 'GET')
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'precondition_failed' });
  }
  for (const wanted of ['*', etag, `"x", ${etag}`])
    expect((await ask({ 'if-match': wanted }, method)).status).toBe(200);
});

it('a name and inline are as requested, with one extension', async () => {
  const disposition = async (query: string) => (await ask({}, 'HEAD', query)).headers['content-disposition'];
  expect(await disposition('')).toMatch(/^attachment; filename="Ein Tast\.mp4"/);
  expect(await disposition('&filename=my%20film')).toBe('attachment; filename="my film.mp4"');
  expect(await disposition('&filename=..%2Fmy-film.MP4&disposition=inline')).toBe(
    'inline; filename="_my-film.mp4"',
  );
  const refused = await ask({}, 'GET', '&disposition=show&filename=');
  expect(refused.status).toBe(400);
  expect((JSON.parse(refused.body.toString()) as { detail: string }).detail).toBe(
    'filename must not be empty; disposition must be attachment or inline.',
  );
});
