import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { renderGateway } from '../../scripts/lib/gateway-config.mjs';
import { findNginx, gatewayArguments } from '../../scripts/lib/nginx-binary.mjs';
import { freePort } from '../../scripts/lib/stack/ports.mjs';

const gatewayDir = resolve(import.meta.dirname, '../../nginx');

/** The project's gateway before two services, given by their addresses. */
export async function startGateway({ videoDl, bgRemoval }) {
  const { nginx, njsModule, version } = findNginx();
  if (nginx === undefined || njsModule === undefined) {
    throw new Error('This benchmark needs nginx and its njs module: run `npm run setup`.');
  }
  const folder = await mkdtemp(join(tmpdir(), 'bench-gateway-'));
  const runDir = join(folder, 'run');
  const port = await freePort();
  renderGateway({
    gatewayDir,
    runDir,
    variables: {
      GATEWAY_LISTEN: `127.0.0.1:${port}`,
      GATEWAY_NJS_MODULE: njsModule,
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
      VIDEO_DL_UPSTREAM: new URL(videoDl).host,
      BG_REMOVAL_UPSTREAM: new URL(bgRemoval).host,
    },
  });
  const child = spawn(nginx, gatewayArguments(runDir), { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/api/health`).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode} before it answered`);
    await delay(50);
  }
  return {
    url,
    version,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}
