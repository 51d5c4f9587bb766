import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findNginx, UserError } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { onFreePort, PortInUseError } from '../runner/free-port.js';
import { gatewayListen, renderGateway, type GatewayVariables } from './render-gateway.js';

/** nginx with the project's configuration. */
export interface RunningGateway extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly version: string | undefined;
}

/** @throws {UserError} if nginx or its JavaScript module is missing */
export function requireNginx(env: NodeJS.ProcessEnv): {
  nginx: string;
  njsModule: string;
  version: string | undefined;
} {
  const { nginx, njsModule, version } = findNginx(env);
  if (nginx === undefined || njsModule === undefined) {
    throw new UserError('nginx or its njs module is missing. Run `npm run setup`.');
  }
  return { nginx, njsModule, version };
}

/**
 * The arguments to run a rendered gateway in the foreground. If we are root, the workers run as
 * root too, because the distribution's nginx user may not be able to read this folder.
 * @param runDir the folder that `renderGateway` wrote
 */
export function gatewayArguments(runDir: string): string[] {
  const user = process.getuid?.() === 0 ? ' user root;' : '';
  return ['-p', runDir, '-c', join(runDir, 'nginx.conf'), '-e', 'stderr', '-g', `daemon off;${user}`];
}

/**
 * Renders the gateway into `runDir` and runs it until it is disposed. Resolves when it accepts
 * connections.
 */
export async function startNginx(options: {
  readonly gatewayDir: string;
  readonly runDir: string;
  readonly host?: string;
  /** Any free one by default. */
  readonly port?: number;
  readonly variables: Omit<GatewayVariables, 'GATEWAY_LISTEN' | 'GATEWAY_NJS_MODULE'>;
  /** The operator's settings; empty by default. */
  readonly settings?: NodeJS.ProcessEnv;
}): Promise<RunningGateway> {
  const { gatewayDir, runDir, host = '127.0.0.1', variables, settings = {} } = options;
  const { nginx, njsModule, version } = requireNginx(process.env);
  const open = async (port: number): Promise<RunningGateway> => {
    renderGateway({
      gatewayDir,
      runDir,
      variables: {
        GATEWAY_LISTEN: gatewayListen(host, port),
        GATEWAY_NJS_MODULE: njsModule,
        ...variables,
      } as GatewayVariables,
      settings,
    });
    const child = execa(nginx, gatewayArguments(runDir), {
      env: { ...settings },
      stdin: 'ignore',
      stdout: 'ignore',
      reject: false,
    });
    const end = await nginxListens(runDir, { pid: child.pid, exited: child });
    if (end !== undefined) {
      throw portInUse(end.stderr) ?? new Error(`nginx did not start:\n${end.stderr}`);
    }
    return {
      pid: child.pid ?? 0,
      port,
      version,
      [Symbol.asyncDispose]: async () => {
        child.kill('SIGTERM');
        await child;
      },
    };
  };
  return options.port === undefined ? onFreePort(open, host) : open(options.port);
}

/**
 * Waits until an nginx listens or ends.
 * @returns how it ended, or undefined if it listens
 */
export async function nginxListens<End>(
  runDir: string,
  { pid, exited }: { readonly pid: number | undefined; readonly exited: PromiseLike<End> },
): Promise<End | undefined> {
  // nginx writes its pid once it listens; a connection could reach another program on this port.
  const pidFile = join(runDir, 'nginx.pid');
  while (Number(await readFile(pidFile, 'utf8').catch(() => '')) !== pid) {
    const end = await Promise.race([exited, delay(10)]);
    if (end !== undefined) return end;
  }
  return undefined;
}

/** The error for an nginx that ended because another program uses its port. */
export function portInUse(log: string): PortInUseError | undefined {
  return log.includes('Address already in use')
    ? new PortInUseError(`nginx did not start:\n${log}`)
    : undefined;
}
