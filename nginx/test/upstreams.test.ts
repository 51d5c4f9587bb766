import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, renderGateway } from '@media-services/stack';
import { findNginx, gatewayArguments, gatewayDir, isAtLeast } from '@media-services/stack/set-up';
import { execa } from 'execa';

/** From then on nginx looks names up while it runs; see templates/upstreams-resolve.conf.template. */
const firstVersionWithResolve = '1.27.3';

let runDir: string;

beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), 'upstreams-'));
});

afterEach(() => {
  rmSync(runDir, { recursive: true, force: true });
});

// Replicas that come and go are proved by npm run verify:compose, which has them.
test('nginx takes the upstreams of the containers, as far as its version knows them', async () => {
  const { nginx = '', njsModule = '', version = '0' } = findNginx();
  renderGateway({
    gatewayDir,
    runDir,
    variables: {
      GATEWAY_UPSTREAMS: 'resolve',
      GATEWAY_LISTEN: `127.0.0.1:${await freePort()}`,
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
