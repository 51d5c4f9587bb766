import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gatewaySettings, renderGateway, substitute } from '../lib/gateway-config.mjs';
import { gatewayDir } from '../lib/project.mjs';

test('only ${UPPER_CASE} is replaced: the variables of nginx stay', () => {
  assert.equal(
    substitute('listen ${PORT}; return 200 $uri${args} $status;', { PORT: '80' }),
    'listen 80; return 200 $uri${args} $status;',
  );
});

test('a variable without a value is an error that names it', () => {
  assert.throws(() => substitute('${MISSING_ONE}', {}), /MISSING_ONE/);
});

test('renders every template and leaves no variable of ours in it', (context) => {
  const runDir = mkdtempSync(join(tmpdir(), 'render-'));
  context.after(() => rmSync(runDir, { recursive: true, force: true }));
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
  assert.match(text, /listen 127\.0\.0\.1:1;/);
  assert.doesNotMatch(text, /\$\{[A-Z_]+\}/);
  assert.match(readFileSync(join(runDir, 'upstreams-static.conf'), 'utf8'), /server 127\.0\.0\.1:2 /);
});

test('the gateway lets through what the service accepts, and its wrapping', () => {
  const sizeFor = (MAX_FILE_BYTES) =>
    gatewaySettings(gatewayDir, { ...process.env, MAX_FILE_BYTES }).GATEWAY_MAX_BODY_SIZE;
  assert.equal(sizeFor(''), String(16 * 1024 * 1024));
  assert.equal(sizeFor('20MiB'), String(21 * 1024 * 1024));
  assert.equal(sizeFor('1000000'), String(1_000_000 + 1024 * 1024));
});

test('all settings that make no sense are named at once', () => {
  const nonsense = {
    GATEWAY_WORKERS: '0',
    VIDEO_REQUESTS_PER_MINUTE: '-1',
    TRUSTED_PROXIES: '10.0.0.0/8, 10.0.0.0/33',
    CORS_ALLOWED_ORIGINS: 'https://example.org/path',
    BASE_PATH: 'media/',
    MAX_FILE_BYTES: 'many',
    GATEWAY_READ_TIMEOUT: 'soon',
    GATEWAY_ERROR_LOG_LEVEL: 'loud',
  };
  assert.throws(
    () => gatewaySettings(gatewayDir, { ...process.env, ...nonsense }),
    (error) => Object.keys(nonsense).every((name) => error.message.includes(`- ${name} must be `)),
  );
});
