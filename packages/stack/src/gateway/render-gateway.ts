import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '@media-services/stack/set-up';
import { execaSync } from 'execa';

const suffix = '.template';

/** Defaults for template variables; the container image sets the same ones. */
const defaults = {
  GATEWAY_UPSTREAMS: 'static',
  GATEWAY_ACCESS_LOG: '/dev/stdout',
  GATEWAY_METRICS: 'off',
  GATEWAY_RESOLVER: '127.0.0.11',
};

/** Values of the template variables. Only those without a default are required. */
export type GatewayVariables = Readonly<Record<string, string>> & {
  /** `address:port` to listen on. */
  readonly GATEWAY_LISTEN: string;
  /** Path of nginx's JavaScript module. */
  readonly GATEWAY_NJS_MODULE: string;
  readonly VIDEO_DL_UPSTREAM: string;
  readonly BG_REMOVAL_UPSTREAM: string;
};

/**
 * `GATEWAY_LISTEN` for an address. On `::`, nginx would take IPv6 clients only; with a socket of
 * their own, IPv4 clients keep the usual form of their addresses.
 */
export function gatewayListen(host: string, port: number): string {
  if (host === '::') return `${port}; listen [::]:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Derives template variables from the operator's settings, like the container does.
 * @param env the settings; missing ones have their defaults
 * @throws {UserError} listing every invalid setting
 */
export function gatewaySettings(gatewayDir: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const { stdout, stderr, exitCode, shortMessage } = execaSync(
    process.execPath,
    [join(gatewayDir, 'settings.js')],
    {
      env,
      extendEnv: false,
      reject: false,
    },
  );
  if (exitCode === undefined) throw new Error(shortMessage);
  if (exitCode !== 0) throw new UserError(`The gateway: ${stderr}`);
  return Object.fromEntries(
    stdout.split('\n').map((line) => {
      const end = line.indexOf('=');
      return [line.slice(0, end), line.slice(end + 1)];
    }),
  );
}

/**
 * Replaces `${NAME}` like envsubst does in the container. A missing value is an error here;
 * envsubst would keep the placeholder and nginx would fail elsewhere.
 */
export function substitute(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_whole, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`The gateway template needs ${name}, which is not set.`);
    return value;
  });
}

/**
 * Renders the gateway's templates into `runDir`, after emptying it.
 * @param options.gatewayDir the repository's nginx folder
 * @returns the path of the main configuration file
 */
export function renderGateway(options: {
  readonly gatewayDir: string;
  readonly runDir: string;
  readonly variables: GatewayVariables;
  /** The operator's settings (docs/configuration.md); empty by default. */
  readonly settings?: NodeJS.ProcessEnv;
}): string {
  const { gatewayDir, runDir, variables, settings = {} } = options;
  const all = {
    ...defaults,
    ...gatewaySettings(gatewayDir, settings),
    GATEWAY_ROOT: gatewayDir,
    GATEWAY_RUN_DIR: runDir,
    ...variables,
  };
  rmSync(runDir, { recursive: true, force: true });
  mkdirSync(runDir, { recursive: true });
  const templates = join(gatewayDir, 'templates');
  for (const name of readdirSync(templates)) {
    if (!name.endsWith(suffix)) continue;
    const rendered = substitute(readFileSync(join(templates, name), 'utf8'), all);
    writeFileSync(join(runDir, name.slice(0, -suffix.length)), rendered);
  }
  return join(runDir, 'nginx.conf');
}
