import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startNginx } from '@media-services/dev-stack';
import { gatewayDir } from '@media-services/set-up';

/** The project's gateway before two services, given by their addresses. */
export async function startGateway({ videoDl, bgRemoval }) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-gateway-'));
  const port = await freePort();
  const nginx = await startNginx({
    ...{ gatewayDir, port, runDir: join(folder, 'run') },
    variables: {
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
      VIDEO_DL_UPSTREAM: new URL(videoDl).host,
      BG_REMOVAL_UPSTREAM: new URL(bgRemoval).host,
    },
  });
  return {
    url: `http://127.0.0.1:${port}`,
    version: nginx.version,
    [Symbol.asyncDispose]: async () => {
      await nginx[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
