import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const suffix = '.template';

/** What the templates need beyond addresses and folders; the container's image sets the same names. */
export const gatewayDefaults = {
  GATEWAY_UPSTREAMS: 'static',
  GATEWAY_MAX_BODY_SIZE: '16m',
  GATEWAY_READ_TIMEOUT: '300s',
  GATEWAY_ERROR_LOG_LEVEL: 'crit',
  GATEWAY_ACCESS_LOG: '/dev/stdout',
  GATEWAY_RESOLVER: '127.0.0.11',
};

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
 * @param {{ gatewayDir: string, runDir: string, variables: Record<string, string> }} options
 *   `gatewayDir` is the repository's nginx folder; `variables` needs GATEWAY_LISTEN,
 *   GATEWAY_NJS_MODULE, VIDEO_DL_UPSTREAM and BG_REMOVAL_UPSTREAM.
 */
export function renderGateway({ gatewayDir, runDir, variables }) {
  const all = { ...gatewayDefaults, GATEWAY_ROOT: gatewayDir, GATEWAY_RUN_DIR: runDir, ...variables };
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
