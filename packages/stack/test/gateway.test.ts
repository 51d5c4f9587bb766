import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatewayDir } from '../src/set-up/index.mjs';
import { gatewaySettings, renderGateway, substitute } from '../src/gateway/render-gateway.js';
import { scratch } from './support/scratch.js';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { startNginx } from '../src/gateway/nginx.js';

test('replaces only ${UPPER_CASE} and keeps nginx variables', () => {
  expect(substitute('listen ${PORT}; return 200 $uri${args} $status;', { PORT: '80' })).toBe(
    'listen 80; return 200 $uri${args} $status;',
  );
});

test('a variable without a value is an error that names it', () => {
  expect(() => substitute('${MISSING_ONE}', {})).toThrow(/MISSING_ONE/);
});

test('renders every template and leaves no placeholder', () => {
  const runDir = join(scratch(), 'run');

  const main = renderGateway({
    gatewayDir,
    runDir,
    variables: {
      GATEWAY_LISTEN: '127.0.0.1:1',
      GATEWAY_NJS_MODULE: '/m.so',
      VIDEO_DL_UPSTREAM: '127.0.0.1:2',
      BG_REMOVAL_UPSTREAM: '127.0.0.1:3',
    },
  });

  const text = readFileSync(main, 'utf8');
  expect(text).toMatch(/listen 127\.0\.0\.1:1;/);
  expect(text).not.toMatch(/\$\{[A-Z_]+\}/);
  expect(readFileSync(join(runDir, 'upstreams-static.conf'), 'utf8')).toMatch(/server 127\.0\.0\.1:2 /);
});

test('the gateway accepts the largest image plus its multipart overhead', () => {
  const sizeFor = (IMAGE_MAX_BYTES: string) =>
    gatewaySettings(gatewayDir, { IMAGE_MAX_BYTES }).GATEWAY_MAX_BODY_SIZE;

  expect(sizeFor('')).toBe(String(16 * 1024 * 1024));
  expect(sizeFor('20MiB')).toBe(String(21 * 1024 * 1024));
  expect(sizeFor('1000000')).toBe(String(1_000_000 + 1024 * 1024));
});

test('a name that looks like a setting is reported', () => {
  const { stderr } = spawnSync(process.execPath, ['settings.js'], {
    cwd: gatewayDir,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, API_KEY_FILE: 'keys' },
  });
  expect(stderr).toContain('API_KEY_FILE is not a setting and does nothing. Did you mean API_KEYS_FILE?');
});

test("the gateway's timeout exceeds the services' timeouts", () => {
  const timeout = (settings: Record<string, string>) =>
    gatewaySettings(gatewayDir, settings).GATEWAY_READ_TIMEOUT;

  expect(timeout({})).toBe('300s');
  expect(timeout({ IMAGE_TIMEOUT_SECONDS: '10m' })).toBe('660s');
  expect(timeout({ IMAGE_TIMEOUT_SECONDS: ' 10m ' })).toBe('660s');
  expect(timeout({ EXTRACTION_TIMEOUT_SECONDS: '500', FIRST_BYTE_TIMEOUT_SECONDS: '2m' })).toBe('680s');
});

test('reports all invalid settings at once', () => {
  const nonsense = {
    STREAMS_PER_CLIENT: '0',
    VIDEO_REQUESTS_PER_MINUTE: '-1',
    TRUSTED_PROXIES: '10.0.0.0/8, 10.0.0.0/33',
    CORS_ALLOWED_ORIGINS: 'https://example.org/path',
    BASE_PATH: 'media/',
    IMAGE_MAX_BYTES: 'many',
  };

  for (const name of Object.keys(nonsense)) {
    expect(() => gatewaySettings(gatewayDir, nonsense)).toThrow(`- ${name} must be `);
  }
});

test.each([
  ['PORT', ['0', '65536', 'x']],
  ['IMAGE_MAX_BYTES', ['0.1', '99999999999GiB']],
  ['BASE_PATH', ['/css', '/js/x', '/api', '/media/']],
  [
    'TRUSTED_PROXIES',
    ['1:2', ':::', 'abcd:', '1::2::3', '1:2:3:4:5:6:7:8:9', '::1.2.3', '::12345', '::1/129'],
  ],
  // Then every client could choose the address that it is counted by.
  ['TRUSTED_PROXIES', ['0.0.0.0/0', '10.0.0.0/8, ::/0', '0.0.0.0/00']],
  ['ALLOWED_HOSTS', ['https://media.example', 'media.example:8080', 'a.example; return 200', '*']],
  ['GATEWAY_SECRET', ['short', 'with spaces in between', '"; return 200; "aaaaaaaa']],
])('rejects %s=%j, which nginx would reject or which would break the page', (name, values) => {
  for (const value of values) {
    expect(() => gatewaySettings(gatewayDir, { [name]: value })).toThrow(`- ${name} must be `);
  }
});

test('accepts every form of an IP address, and a service that is named twice', () => {
  const proxies = [
    '::',
    '::1',
    'fe80::/10',
    '2001:db8::1',
    '1::',
    '1:2:3:4:5:6:7:8',
    '::ffff:10.0.0.1',
    '10.0.0.0/8',
  ];

  const { GATEWAY_REAL_IP, GATEWAY_ROUTES } = gatewaySettings(gatewayDir, {
    TRUSTED_PROXIES: proxies.join(', '),
    SERVICES: 'video-dl,video-dl',
  });

  expect(GATEWAY_REAL_IP).toMatch(proxies.map((each) => `set_real_ip_from ${each}; `).join(''));
  expect(GATEWAY_ROUTES).toBe('include video-dl.conf; ');
});

test('another program on its port is not taken for the gateway', async () => {
  const other = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const folder = scratch();

  const started = startNginx({
    gatewayDir,
    runDir: join(folder, 'run'),
    port: (other.address() as AddressInfo).port,
    variables: {
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
      VIDEO_DL_UPSTREAM: '127.0.0.1:1',
      BG_REMOVAL_UPSTREAM: '127.0.0.1:2',
    },
  });

  await expect(started).rejects.toThrow(/did not start:[^]*Address already in use/);
  other.close();
  await once(other, 'close');
});

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1');

test.each([
  ['0.0.0.0', ['127.0.0.1']],
  ...(hasIpv6 ? [['::1', ['[::1]']] as const] : []),
  ['::', ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]],
] as const)('HOST=%s is reachable at %j', async (host, names) => {
  const folder = scratch();
  await using gateway = await startNginx({
    gatewayDir,
    runDir: join(folder, 'run'),
    host,
    variables: {
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
      VIDEO_DL_UPSTREAM: '127.0.0.1:1',
      BG_REMOVAL_UPSTREAM: '127.0.0.1:2',
    },
  });

  expect(gateway.pid).toBeGreaterThan(0);
  for (const name of names) expect((await fetch(`http://${name}:${gateway.port}/`)).status).toBe(200);
});
