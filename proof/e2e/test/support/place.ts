import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHealthyStack, startNginx } from '@media-services/stack';
import { gatewayDir, logsDir } from '@media-services/stack/set-up';
import { gatewaySecret } from './gateway-secret.ts';
import { stack } from './stack.js';

/** Where the services are reached in a way that differs from the stack's own. */
export interface Place extends AsyncDisposable {
  readonly url: string;
}

type Settings = Readonly<Record<string, string>>;

/** One more gateway before the services of the stack. */
export async function startGateway(settings: Settings): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'media-services-place-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const gateway = await startNginx({
    gatewayDir,
    settings: { GATEWAY_SECRET: gatewaySecret, ...settings },
    runDir: join(folder, 'run'),
    variables: {
      VIDEO_DL_UPSTREAM: stack.videoDl,
      BG_REMOVAL_UPSTREAM: stack.bgRemoval,
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
    },
  }).catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    url: `http://127.0.0.1:${gateway.port}`,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      remove();
    },
  };
}

/** Gateway and services of their own, for settings that both read. */
export async function startWhole(settings: Settings): Promise<Place> {
  return startHealthyStack({
    env: { ...process.env, ALLOWED_PRIVATE_SOURCES: new URL(stack.films).host, ...settings },
    logsDir: join(logsDir, 'e2e-place'),
  });
}
