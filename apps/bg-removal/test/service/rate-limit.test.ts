import http from 'node:http';
import { once } from 'node:events';
import sharp from 'sharp';
import request from 'supertest';
import { picture } from '../support/pictures.js';
import {
  fakeInference,
  postImage,
  problemOf,
  startService,
  startWarmService,
  type TestService,
} from '../support/service.js';

let service: TestService | undefined;
let file: Buffer;
beforeAll(async () => {
  file = await picture().png().toBuffer();
});
/** A bright line, longer than WebP allows. */
const wideImage = () =>
  sharp({ create: { width: 16_400, height: 1, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

test('five images per minute, the sixth is 429; an image rejected before it is decoded does not count, and the headers say so', async () => {
  service = await startWarmService({
    IMAGES_PER_MINUTE: '5',
    IMAGE_MAX_PIXELS: '20000',
    IMAGE_MAX_BYTES: '50000',
    OPERATOR_CONTACT: 'ops@example.org',
  });
  const refused: [Uint8Array, Record<string, string>, number][] = [
    [Buffer.from('no image'), {}, 415],
    [file, { threshold: 'x' }, 400],
    [await picture(210, 100).png().toBuffer(), {}, 413],
    [await wideImage(), { format: 'webp' }, 400],
    [file.subarray(0, 60), {}, 422],
    [Buffer.alloc(60_000), {}, 413],
  ];
  for (const [bytes, fields, status] of refused) {
    const response = await postImage(service, bytes, { fields });
    expect(response.status).toBe(status);
    expect(response.get('ratelimit')).toMatch(/; r=5; /);
  }
  // The size of a crop is known only after the work.
  const cropped = await postImage(service, await wideImage(), { fields: { format: 'webp', crop: 'true' } });
  expect(cropped.status).toBe(400);
  for (let i = 2; i <= 4; i++) {
    const response = await postImage(service, file);
    expect(response.status).toBe(200);
    expect(response.get('ratelimit-policy')).toMatch(/^"images-per-minute"; q=5; w=60; pk=:.+:$/);
    expect(response.get('ratelimit')).toMatch(new RegExp(`^"images-per-minute"; r=${5 - i}; t=(60|5\\d)$`));
  }
  const dark = await picture().linear(0.1, 0).png().toBuffer();
  expect(problemOf(await postImage(service, dark))).toMatchObject({ code: 'no_foreground' });

  const limited = await postImage(service, file);
  expect(Number(limited.get('retry-after'))).toBeGreaterThan(50);
  expect(Number(limited.get('retry-after'))).toBeLessThanOrEqual(60);
  expect(limited.get('ratelimit')).toContain('r=0');
  const problem = problemOf(limited);
  expect(problem).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(problem.detail).toContain('ops@example.org');
});

test('images sent while the model is missing do not count', async () => {
  service = await startService({ IMAGES_PER_MINUTE: '2', MODEL: 'no-such-model' });
  for (let i = 0; i < 3; i++) {
    const response = await postImage(service, file);
    expect(problemOf(response)).toMatchObject({ status: 503, code: 'engine_unavailable' });
    expect(response.get('ratelimit')).toMatch(/; r=2; /);
  }
});

test('standalone, the limit is checked before the body is read; X-Forwarded-For, health and rejected methods change nothing', async () => {
  service = await startWarmService({ IMAGES_PER_MINUTE: '1' }, fakeInference('slow'));
  const running = service;
  const from = (address: string) =>
    postImage(running, file, { headers: { 'x-forwarded-for': address, forwarded: `for=${address}` } });
  expect((await request(service.url).get('/api/remove-background')).status).toBe(405);
  expect((await request(service.url).get('/api/health')).status).toBe(200);
  expect((await from('203.0.113.1')).status).toBe(200);
  expect((await from('203.0.113.2')).status).toBe(429);

  const upload = http.request(service.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '100000' },
  });
  upload.flushHeaders();
  const [response] = (await once(upload, 'response')) as [http.IncomingMessage];
  expect(response.statusCode).toBe(429);
  upload.destroy();
});

describe('behind one proxy', () => {
  let proxied: TestService;
  beforeAll(async () => {
    const env = { IMAGES_PER_MINUTE: '1', TRUST_PROXY_HOPS: '1' };
    proxied = await startWarmService(env, fakeInference('slow'));
  });
  afterAll(() => proxied.stop());

  const from = (addresses: string) => postImage(proxied, file, { headers: { 'x-forwarded-for': addresses } });

  test('only the IP address added by the proxy counts', async () => {
    expect((await from('203.0.113.1')).status).toBe(200);
    expect((await from('198.51.100.9, 203.0.113.1')).status).toBe(429);
    expect((await from('203.0.113.2')).status).toBe(200);
  });

  test('IPv6 clients are distinguished by their /64', async () => {
    expect((await from('2001:db8:1:2::1')).status).toBe(200);
    expect((await from('2001:db8:1:2:ffff::9')).status).toBe(429);
    expect((await from('2001:db8:1:3::1')).status).toBe(200);
    expect((await from('::ffff:203.0.113.5')).status).toBe(200);
    expect((await from('203.0.113.5')).status).toBe(429);
  });
});
