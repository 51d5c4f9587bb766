import { request } from 'node:http';
import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Like a browser or a program: with exactly these headers, `Host` included. */
async function send(gateway: TestGateway, path: string, { method = 'GET', headers = {} }: Sent = {}) {
  return new Promise<Response>((resolve, reject) => {
    request({ host: '127.0.0.1', port: gateway.port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const headers = new Headers();
        for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
        resolve(new Response(Buffer.concat(parts), { status: response.statusCode ?? 0, headers }));
      });
    })
      .on('error', reject)
      .end();
  });
}

const info = '/api/info?url=x';
const upload = '/api/remove-background';

async function withGateway(
  env: Readonly<Record<string, string>>,
  check: (gateway: TestGateway) => Promise<void>,
) {
  await using gateway = await startGateway({ env });
  await check(gateway);
}

describe('DNS rebinding', () => {
  const statusFor = async (gateway: TestGateway, host: string, path = info) =>
    (await send(gateway, path, { headers: { host } })).status;

  test('on loopback, only IP addresses and localhost are names of this machine', () =>
    withGateway({ HOST: '127.0.0.1' }, async (gateway) => {
      for (const path of [info, '/', '/api/health', '/video-dl/api/info?url=x'])
        expect(await statusFor(gateway, `evil.example:${gateway.port}`, path)).toBe(421);
      for (const host of [
        '127.0.0.1.evil.example',
        'localhost.evil.example',
        'evil.example#127.0.0.1',
        'x@localhost',
      ])
        expect([400, 421]).toContain(await statusFor(gateway, host));
      const rejected = await send(gateway, info, { headers: { host: 'evil.example' } });
      await expectProblem(rejected, 421, 'unknown_host');
      expect(gateway.videoDl.requests).toHaveLength(0);
      for (const host of [
        '127.0.0.1',
        'localhost',
        'LOCALHOST:8080',
        `127.0.0.1:${gateway.port}`,
        '[::1]:8080',
        '192.168.1.7',
      ])
        expect(await statusFor(gateway, host)).toBe(200);
    }));

  test('ALLOWED_HOSTS adds names, which then are the only ones everywhere', () =>
    withGateway({ HOST: '0.0.0.0', ALLOWED_HOSTS: 'media.example, Other.Example' }, async (gateway) => {
      for (const host of ['media.example', 'MEDIA.example:8443', 'other.example'])
        expect(await statusFor(gateway, host)).toBe(200);
      for (const host of ['evil.example', 'mediaxexample', 'media.example.evil.example'])
        expect(await statusFor(gateway, host)).toBe(421);
    }));

  test('a gateway that other machines reach takes any name', () =>
    withGateway({ HOST: '0.0.0.0' }, async (gateway) => {
      expect(await statusFor(gateway, 'media.example')).toBe(200);
    }));
});

describe("another site's page", () => {
  const crossSite = { 'sec-fetch-site': 'cross-site' };
  const navigation = { ...crossSite, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  test('can neither read nor use the API', () =>
    withGateway({}, async (gateway) => {
      const attempts: [string, Sent][] = [
        [info, { headers: { ...crossSite, 'sec-fetch-mode': 'no-cors' } }],
        [info, { headers: { ...crossSite, 'sec-fetch-mode': 'cors', origin: 'https://evil.example' } }],
        [upload, { method: 'POST', headers: navigation }],
        [upload, { method: 'POST', headers: { ...navigation, 'content-length': '0' } }],
        ['/api/stream?url=x', { headers: navigation }],
        ['/video-dl/api/stream?url=x', { headers: navigation }],
        ['/bg-removal/api/health', { headers: navigation }],
        ['/%61pi/stream?url=x', { headers: navigation }],
        ['//api/stream?url=x', { headers: navigation }],
        ['/', { method: 'POST', headers: navigation }],
        // Browsers send no Sec-Fetch-Site to http:// addresses of a local network.
        [upload, { method: 'POST', headers: { host: '192.168.1.7:8080', origin: 'http://evil.example' } }],
        [upload, { method: 'POST', headers: { host: '192.168.1.7:8080', origin: 'null' } }],
        [upload, { method: 'POST', headers: { host: 'a.example', origin: 'http://b.a.example' } }],
      ];
      for (const [path, sent] of attempts)
        await expectProblem(await send(gateway, path, sent), 403, 'cross_site_request');
      expect(gateway.videoDl.requests).toHaveLength(0);
      expect(gateway.bgRemoval.requests).toHaveLength(0);
    }));

  test('may link to the pages', () =>
    withGateway({}, async (gateway) => {
      for (const path of ['/', '/?url=x', '/docs/'])
        expect((await send(gateway, path, { headers: navigation })).status).toBe(200);
    }));

  test('may use the API if its origin is allowed, in links and elements too', () =>
    withGateway({ CORS_ALLOWED_ORIGINS: 'https://page.example' }, async (gateway) => {
      const allowed = [{ origin: 'https://page.example' }, { referer: 'https://page.example/tool?x=1' }];
      const others = [
        { referer: 'https://page.example.evil/' },
        { origin: 'https://evil.example', referer: 'https://evil.example/' },
        {},
      ];
      const statusFor = async (headers: object) =>
        (await send(gateway, info, { headers: { ...navigation, ...headers } })).status;
      for (const headers of allowed) expect(await statusFor(headers)).toBe(200);
      for (const headers of others) expect(await statusFor(headers)).toBe(403);
    }));

  test('cannot embed a response, which says so itself', () =>
    withGateway({}, async (gateway) => {
      for (const path of [info, upload, '/api/health', '/api/nope', '/'])
        expect((await send(gateway, path)).headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }));
});

test('the own page, programs and typed URLs are not affected', () =>
  withGateway({ HOST: '127.0.0.1' }, async (gateway) => {
    const host = `127.0.0.1:${gateway.port}`;
    for (const headers of [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
      { 'sec-fetch-site': 'same-site' },
      { host, origin: `http://${host}` },
      { host, 'sec-fetch-site': 'same-origin', origin: 'https://media.example' },
    ])
      expect((await send(gateway, upload, { method: 'POST', headers })).status).toBe(200);
  }));

test('the services get the secret from the gateway alone', async () => {
  const secret = 'correct-horse-battery';
  const sentBy = async (gateway: TestGateway) => {
    await send(gateway, info, { headers: { 'x-gateway-secret': 'a-guess-of-the-client' } });
    return gateway.videoDl.requests[0]?.headers['x-gateway-secret'];
  };
  await using withSecret = await startGateway({ env: { GATEWAY_SECRET: secret } });
  expect(await sentBy(withSecret)).toBe(secret);
  await using without = await startGateway();
  expect(await sentBy(without)).toBeUndefined();
});

test('a flood of health requests is slowed down, and another client is not', async () => {
  await using gateway = await startGateway({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  const ask = (client: string) => send(gateway, '/api/health', { headers: { 'x-forwarded-for': client } });
  const flood = Array.from({ length: 40 }, () => ask('203.0.113.7'));
  const asked = ask('203.0.113.8');
  const first = await Promise.race([
    asked.then(() => 'other client'),
    Promise.all(flood).then(() => 'flood'),
  ]);
  expect(first).toBe('other client');
  await Promise.all(flood);
});
