import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewayArguments, renderGateway } from '@media-services/stack';
import { findNginx, gatewayDir, isAtLeast } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { startGateway, type TestGateway } from './support/gateway.js';

/** Since this version, nginx resolves names at run time; see templates/upstreams-resolve.conf.template. */
const firstVersionWithResolve = '1.27.3';

let runDir: string;

beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), 'upstreams-'));
});

afterEach(() => {
  rmSync(runDir, { recursive: true, force: true });
});

// `npm run proof -- compose` tests replicas that come and go.
test("nginx accepts the containers' upstreams, as far as its version supports them", async () => {
  const { nginx = '', njsModule = '', version = '0' } = findNginx();
  renderGateway({
    gatewayDir,
    runDir,
    variables: {
      GATEWAY_UPSTREAMS: 'resolve',
      GATEWAY_LISTEN: '127.0.0.1:8080',
      GATEWAY_NJS_MODULE: njsModule,
      GATEWAY_ACCESS_LOG: join(runDir, 'access.log'),
      VIDEO_DL_UPSTREAM: 'localhost:3001',
      BG_REMOVAL_UPSTREAM: 'localhost:3002',
    },
  });
  const upstreams = join(runDir, 'upstreams-resolve.conf');
  const text = readFileSync(upstreams, 'utf8');
  expect(text.match(/^ *server localhost:300[12] resolve /gm)).toHaveLength(2);
  if (!isAtLeast(version, firstVersionWithResolve)) {
    writeFileSync(upstreams, text.replaceAll(' resolve ', ' '));
  }

  const { exitCode, stderr } = await execa(nginx, ['-t', ...gatewayArguments(runDir)], { reject: false });

  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringContaining('successful') as string,
  });
});

let gateway: TestGateway;

/** The port of tcpmux, which nothing uses. */
const nobody = '127.0.0.1:1';

beforeAll(async () => {
  gateway = await startGateway({ variables: { VIDEO_DL_UPSTREAM: nobody, BG_REMOVAL_UPSTREAM: nobody } });
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** Counts the upstreams of one request; nginx separates those of an internal redirect with a colon. */
async function passes(requestId: string): Promise<number> {
  for (;;) {
    const line = gateway.accessLog().find((entry) => entry['requestId'] === requestId);
    if (line !== undefined) return String(line['upstream']).split(' : ').length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test.each(['/api/info?url=https%3A%2F%2Fexample.com%2Fa', '/video-dl/api/health', '/bg-removal/api/health'])(
  'a GET of %s that no replica has started is retried once, then becomes a 502 problem',
  async (path) => {
    const requestId = `again-${path.replace(/\W/g, '').slice(0, 30)}`;
    const response = await fetch(gateway.url + path, { headers: { 'X-Request-Id': requestId } });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ code: 'service_unavailable', requestId });
    expect(await passes(requestId)).toBe(2);
  },
);

test('an upload is never sent twice', async () => {
  const response = await fetch(`${gateway.url}/api/remove-background`, {
    method: 'POST',
    headers: { 'X-Request-Id': 'upload-once' },
    body: 'picture',
  });
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ code: 'service_unavailable' });
  expect(await passes('upload-once')).toBe(1);
});
