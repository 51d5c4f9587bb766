import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from './user-error.mjs';

const suffix = '.template';

/** What the templates need beyond addresses and folders; the container's image sets the same names. */
export const gatewayDefaults = {
  GATEWAY_UPSTREAMS: 'static',
  GATEWAY_ACCESS_LOG: '/dev/stdout',
  GATEWAY_RESOLVER: '127.0.0.11',
};

/**
 * The templates' variables for an operator's settings, as the container makes them too.
 * @param {string} gatewayDir
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>}
 * @throws {UserError} with every setting that makes no sense
 */
export function gatewaySettings(gatewayDir, env) {
  const files = ['settings.awk', 'settings.tsv'].map((name) => join(gatewayDir, name));
  const { status, stdout, stderr, error } = spawnSync('awk', ['-f', ...files], { env, encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new UserError(`The gateway's configuration has a problem:\n${stderr.trimEnd()}`);
  return Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

/**
 * Replaces `${NAME}` like envsubst does in the container; a name without a value is
 * an error here, where envsubst would leave it in and nginx would complain elsewhere.
 * @param {string} text
 * @param {Record<string, string>} variables
 */
export function substitute(text, variables) {
  return text.replace(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_whole, name) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`The gateway template needs ${name}, which is not set.`);
    return value;
  });
}

/**
 * Renders the gateway's templates into `runDir` and returns the path of the main
 * configuration file.
 * @param {{ gatewayDir: string, runDir: string, variables: Record<string, string>, env?: NodeJS.ProcessEnv }} options
 *   `gatewayDir` is the repository's nginx folder; `variables` needs GATEWAY_LISTEN,
 *   GATEWAY_NJS_MODULE, VIDEO_DL_UPSTREAM and BG_REMOVAL_UPSTREAM; `env` holds the
 *   operator's settings (settings.tsv), none of them by default.
 */
export function renderGateway({ gatewayDir, runDir, variables, env = {} }) {
  const all = {
    ...gatewayDefaults,
    ...gatewaySettings(gatewayDir, { ...env, PATH: env.PATH ?? process.env.PATH }),
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
