import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '@media-services/stack/set-up';
import { execaSync } from 'execa';

const suffix = '.template';

/** What the templates need beyond addresses and folders; the container's image sets the same names. */
const defaults = {
  GATEWAY_UPSTREAMS: 'static',
  GATEWAY_ACCESS_LOG: '/dev/stdout',
  GATEWAY_METRICS: 'off',
  GATEWAY_RESOLVER: '127.0.0.11',
};

/** Values of the templates' variables; only those without a default have to be given. */
export type GatewayVariables = Readonly<Record<string, string>> & {
  /** `address:port` to listen on. */
  readonly GATEWAY_LISTEN: string;
  /** Path of nginx's JavaScript module. */
  readonly GATEWAY_NJS_MODULE: string;
  readonly VIDEO_DL_UPSTREAM: string;
  readonly BG_REMOVAL_UPSTREAM: string;
};

/**
 * The templates' variables for an operator's settings, as the container makes them too.
 * @param env the settings; those that are not there have their defaults
 * @throws {UserError} with every setting that makes no sense
 */
export function gatewaySettings(gatewayDir: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const files = ['settings.awk', 'settings.tsv'].map((name) => join(gatewayDir, name));
  const { stdout, stderr, exitCode, shortMessage } = execaSync('awk', ['-f', ...files], {
    env: { ...env, PATH: env.PATH ?? process.env.PATH },
    extendEnv: false,
    reject: false,
  });
  if (exitCode === undefined) throw new Error(shortMessage);
  if (exitCode !== 0) throw new UserError(`The gateway's configuration has a problem:\n${stderr}`);
  return Object.fromEntries(
    stdout.split('\n').map((line) => {
      const end = line.indexOf('=');
      return [line.slice(0, end), line.slice(end + 1)];
    }),
  );
}

/**
 * Replaces `${NAME}` like envsubst does in the container; a name without a value is
 * an error here, where envsubst would leave it in and nginx would complain elsewhere.
 */
export function substitute(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_whole, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`The gateway template needs ${name}, which is not set.`);
    return value;
  });
}

/**
 * Renders the gateway's templates into `runDir`, which is emptied first.
 * @param options.gatewayDir the repository's nginx folder
 * @returns the path of the main configuration file
 */
export function renderGateway(options: {
  readonly gatewayDir: string;
  readonly runDir: string;
  readonly variables: GatewayVariables;
  /** The operator's (`settings.tsv`); none of them by default. */
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
