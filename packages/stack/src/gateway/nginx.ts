import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findNginx, gatewayArguments, UserError } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { renderGateway, type GatewayVariables } from './render-gateway.js';

/** nginx with the project's configuration. */
export interface RunningGateway extends AsyncDisposable {
  readonly pid: number;
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
 * Renders the gateway into `runDir` and runs it until it is disposed. Resolves when it accepts
 * connections.
 */
export async function startNginx(options: {
  readonly gatewayDir: string;
  readonly runDir: string;
  /** Port on loopback. */
  readonly port: number;
  readonly variables: Omit<GatewayVariables, 'GATEWAY_LISTEN' | 'GATEWAY_NJS_MODULE'>;
  /** The operator's settings; empty by default. */
  readonly settings?: NodeJS.ProcessEnv;
}): Promise<RunningGateway> {
  const { gatewayDir, runDir, port, variables, settings = {} } = options;
  const { nginx, njsModule, version } = requireNginx(process.env);
  renderGateway({
    gatewayDir,
    runDir,
    variables: {
      GATEWAY_LISTEN: `127.0.0.1:${port}`,
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
  const death = child.then(({ stderr }) => stderr);
  // nginx writes its pid once it listens; a connection could reach another program on this port.
  const pidFile = join(runDir, 'nginx.pid');
  while (Number(await readFile(pidFile, 'utf8').catch(() => '')) !== child.pid) {
    const stderr = await Promise.race([death, delay(10)]);
    if (stderr !== undefined) throw new Error(`nginx did not start:\n${stderr}`);
  }
  return {
    pid: child.pid ?? 0,
    version,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await child;
    },
  };
}
