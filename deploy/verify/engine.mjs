/** Docker and compose, as the checks use them. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const project = 'media-services-verify';
const composeFolder = fileURLToPath(new URL('compose/', import.meta.url));

/** An image as docker-compose.yml names it. */
export function imageName(name) {
  const { IMAGE_PREFIX = 'localhost/media-services', IMAGE_TAG = 'latest' } = process.env;
  return `${IMAGE_PREFIX}/${name}:${IMAGE_TAG}`;
}

/**
 * Runs a program to its end.
 * @param {{ input?: Buffer, env?: object, show?: boolean, allowFailure?: boolean, binary?: boolean }} [options]
 * @returns {Promise<string>} its standard output (a Buffer with `binary`)
 * @throws {Error} with the end of what it wrote, unless `allowFailure`
 */
export async function run(
  file,
  args,
  { input, env = {}, show = false, allowFailure = false, binary = false } = {},
) {
  const { code, stdout, text } = await new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    });
    const chunks = [];
    const everything = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk) && everything.push(chunk));
    child.stderr?.on('data', (chunk) => everything.push(chunk));
    child.once('error', reject);
    child.once('close', (exit) => {
      const all = Buffer.concat(everything).toString();
      resolve({ code: exit, stdout: Buffer.concat(chunks), text: all });
    });
    child.stdin?.end(input);
  });
  if (code !== 0 && !allowFailure) {
    throw new Error(`${file} ${args.slice(0, 6).join(' ')} … ended with ${code}: ${text.slice(-1500)}`);
  }
  return binary ? stdout : stdout.toString();
}

export const docker = (...args) => run('docker', args);

/** @param {{ overrides: string[], env: object }} setting from `prepareBuild` */
export function composeFor({ overrides, env }) {
  const files = [
    'docker-compose.yml',
    ...['compose.verify.yml', ...overrides].map((name) => composeFolder + name),
  ];
  return (args, options = {}) =>
    run('docker', ['compose', '-p', project, ...files.flatMap((file) => ['-f', file]), ...args], {
      ...options,
      env: { ...env, ...options.env },
    });
}

/** Names of a service's running containers, in order. */
export async function containersOf(service, { all = false } = {}) {
  const out = await docker(
    ...['ps', ...(all ? ['-a'] : []), '--format', '{{.Names}}'],
    ...['--filter', `label=com.docker.compose.project=${project}`],
    ...['--filter', `label=com.docker.compose.service=${service}`],
  );
  return out.split('\n').filter(Boolean).sort();
}

export async function inspect(container) {
  return JSON.parse(await docker('inspect', container))[0];
}

/** Runs a shell line in a container as its own user; returns exit code and output. */
export async function shell(container, line) {
  const out = await run('docker', ['exec', container, 'sh', '-c', `${line}\necho "exit=$?"`], {
    allowFailure: true,
  });
  const code = /exit=(\d+)\s*$/.exec(out)?.[1];
  return { code: code === undefined ? -1 : Number(code), output: out.replace(/exit=\d+\s*$/, '') };
}

/** Gives a task to a client container; see inside/client.mjs. */
export async function ask(client, task) {
  return JSON.parse(await docker('exec', client, 'node', '/verify/client.mjs', JSON.stringify(task)));
}

/** The gateway's log lines of requests whose id begins with `id`. */
export async function gatewayLog(id) {
  const [gateway] = await containersOf('gateway');
  const out = await docker('logs', gateway);
  return out
    .split('\n')
    .filter((line) => line.includes(`"requestId":"${id}`))
    .map((line) => JSON.parse(line));
}

/** Address:port of a service's containers in the network that it shares with the gateway. */
export async function upstreamOf(container, network, port) {
  const { NetworkSettings } = await inspect(container);
  return `${NetworkSettings.Networks[`${project}_${network}`].IPAddress}:${port}`;
}
