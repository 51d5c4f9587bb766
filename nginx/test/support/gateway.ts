import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { renderGateway } from '../../../scripts/lib/gateway-config.mjs';
import { findNginx, gatewayArguments } from '../../../scripts/lib/nginx-binary.mjs';
import { startFakeService, type FakeService } from './fake-service.js';

export interface GatewayOptions {
  /** Extra or other template variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The operator's settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files for the folder `enabled/`, by name. */
  readonly enabled?: Readonly<Record<string, string>>;
  /** How the name of the temporary folder with everything begins. */
  readonly folderPrefix?: string;
}

/** The real nginx with the project's own configuration in front of two fake services. */
export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly runDir: string;
  readonly pid: number;
  readonly videoDl: FakeService;
  readonly bgRemoval: FakeService;
  /** The access log so far, parsed. */
  accessLog: () => Record<string, unknown>[];
  [Symbol.asyncDispose]: () => Promise<void>;
}

const repositoryGateway = resolve(import.meta.dirname, '../..');

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const { nginx, njsModule } = findNginx();
  if (nginx === undefined || njsModule === undefined) {
    throw new Error('These tests need nginx and its njs module: run `npm run setup`.');
  }
  const folder = mkdtempSync(join(tmpdir(), options.folderPrefix ?? 'gateway-test-'));
  const gatewayDir = join(folder, 'gateway');
  cpSync(repositoryGateway, gatewayDir, {
    recursive: true,
    filter: (source) => !/node_modules|[\\/]test([\\/]|$)/.test(source.slice(repositoryGateway.length)),
  });
  for (const [name, text] of Object.entries(options.enabled ?? {})) {
    writeFileSync(join(gatewayDir, 'enabled', name), text);
  }
  const [videoDl, bgRemoval, port] = await Promise.all([startFakeService(), startFakeService(), freePort()]);
  const runDir = join(folder, 'run');
  const accessLog = join(folder, 'access.log');
  renderGateway({
    gatewayDir,
    runDir,
    variables: {
      GATEWAY_LISTEN: `127.0.0.1:${port}`,
      GATEWAY_NJS_MODULE: njsModule,
      GATEWAY_ACCESS_LOG: accessLog,
      VIDEO_DL_UPSTREAM: `127.0.0.1:${videoDl.port}`,
      BG_REMOVAL_UPSTREAM: `127.0.0.1:${bgRemoval.port}`,
      ...options.variables,
    },
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const child = spawn(nginx, gatewayArguments(runDir), {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const dispose = async (): Promise<void> => {
    if (child.exitCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    await Promise.all([videoDl.close(), bgRemoval.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await listening(child, port);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    runDir,
    pid: child.pid ?? 0,
    videoDl,
    bgRemoval,
    accessLog: () =>
      readFileSync(accessLog, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    [Symbol.asyncDispose]: dispose,
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${stderr}`);
    await delay(10);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolvePromise) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolvePromise(true);
    });
    socket.once('error', () => resolvePromise(false));
  });
}
