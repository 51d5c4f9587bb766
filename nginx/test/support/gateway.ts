import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startNginx, type RunningGateway } from '@media-services/stack';
import { startFakeService, type FakeService } from './fake-service.js';

export interface GatewayOptions {
  /** Additional or overridden template variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The operator's settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files for the folder `enabled/`, by name. */
  readonly enabled?: Readonly<Record<string, string>>;
  /** Prefix of the temporary folder's name. */
  readonly folderPrefix?: string;
}

/** nginx with the project's configuration in front of two fake services. */
export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly runDir: string;
  readonly pid: number;
  readonly videoDl: FakeService;
  readonly bgRemoval: FakeService;
  /** The access log so far, parsed. */
  accessLog: () => Record<string, unknown>[];
  /** Both services as when they were started: for tests that share a gateway. */
  resetServices: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
}

const repositoryGateway = resolve(import.meta.dirname, '../..');

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), options.folderPrefix ?? 'gateway-test-'));
  const gatewayDir = join(folder, 'gateway');
  cpSync(repositoryGateway, gatewayDir, {
    recursive: true,
    filter: (source) => !/node_modules|[\\/]test([\\/]|$)/.test(source.slice(repositoryGateway.length)),
  });
  for (const [name, text] of Object.entries(options.enabled ?? {})) {
    writeFileSync(join(gatewayDir, 'enabled', name), text);
  }
  const [videoDl, bgRemoval] = await Promise.all([startFakeService(), startFakeService()]);
  const runDir = join(folder, 'run');
  const accessLog = join(folder, 'access.log');
  let nginx: RunningGateway | undefined;
  const dispose = async (): Promise<void> => {
    await nginx?.[Symbol.asyncDispose]();
    await Promise.all([videoDl.close(), bgRemoval.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    nginx = await startNginx({
      gatewayDir,
      runDir,
      settings: options.env ?? {},
      variables: {
        GATEWAY_ACCESS_LOG: accessLog,
        VIDEO_DL_UPSTREAM: videoDl.host,
        BG_REMOVAL_UPSTREAM: bgRemoval.host,
        ...options.variables,
      },
    });
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${nginx.port}`,
    port: nginx.port,
    runDir,
    pid: nginx.pid,
    videoDl,
    bgRemoval,
    accessLog: () =>
      readFileSync(accessLog, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    resetServices: async () => {
      await Promise.all([videoDl.reset(), bgRemoval.reset()]);
    },
    [Symbol.asyncDispose]: dispose,
  };
}
