import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startNginx, startStack } from '@media-services/dev-stack';
import { gatewayDir, logsDir } from '@media-services/set-up';
import { stack } from './stack.js';

/** Where the services are reached in a way that differs from the stack's own. */
export interface Place extends AsyncDisposable {
  readonly url: string;
}

type Settings = Readonly<Record<string, string>>;

/** One more gateway before the services of the stack. */
export async function startGateway(settings: Settings): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'media-services-place-'));
  const port = await freePort();
  const gateway = await startNginx({
    ...{ gatewayDir, port, settings, runDir: join(folder, 'run') },
    variables: {
      VIDEO_DL_UPSTREAM: stack.videoDl,
      BG_REMOVAL_UPSTREAM: stack.bgRemoval,
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
    },
  });
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Gateway and services of their own, for settings that both read. */
export async function startWhole(settings: Settings): Promise<Place> {
  const whole = await startStack({
    port: await freePort(),
    freeServicePorts: true,
    env: { ...process.env, ALLOWED_PRIVATE_SOURCES: new URL(stack.films).host, ...settings },
    logsDir: join(logsDir, 'e2e-place'),
  });
  try {
    await whole.healthy();
  } catch (error) {
    await whole.stop();
    throw error;
  }
  return whole;
}
