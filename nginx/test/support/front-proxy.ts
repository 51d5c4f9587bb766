import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@media-services/stack';
import { findExecutable, findNginx } from '@media-services/stack/set-up';

/** A proxy in front of the gateway, from a recipe in deploy/proxies, without TLS. */
export interface FrontProxy extends AsyncDisposable {
  readonly port: number;
}

const recipes = resolve(import.meta.dirname, '../../../deploy/proxies');
const recipe = (name: string) => readFileSync(join(recipes, name), 'utf8');

export const caddy = usableCaddy();

export async function startNginxProxy(gatewayPort: number): Promise<FrontProxy> {
  const { nginx } = findNginx();
  if (nginx === undefined) throw new Error('This test needs nginx: run `npm run setup`.');
  const server = (port: number) =>
    changed(recipe('nginx.conf'), [
      ['listen 443 ssl;', `listen 127.0.0.1:${port};`],
      [/^ +ssl_certificate.*$/gm, ''],
      ['http://127.0.0.1:8080', `http://127.0.0.1:${gatewayPort}`],
    ]);
  return start(nginx, (folder, port) => {
    const file = join(folder, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join(' ');
    const user = process.getuid?.() === 0 ? 'user root; ' : '';
    writeFileSync(
      file,
      `${user}daemon off; pid ${folder}/pid; error_log stderr crit; events {} http { access_log off; ${temporary}\n${server(port)} }`,
    );
    return ['-c', file, '-e', 'stderr'];
  });
}

export async function startCaddyProxy(gatewayPort: number): Promise<FrontProxy> {
  if (caddy === undefined) throw new Error('caddy is not installed');
  return start(caddy, (folder, port) => {
    const file = join(folder, 'Caddyfile');
    const sites = changed(recipe('Caddyfile'), [
      ['media.example.org {', `http://127.0.0.1:${port} {`],
      ['reverse_proxy 127.0.0.1:8080', `reverse_proxy 127.0.0.1:${gatewayPort}`],
    ]);
    writeFileSync(file, `{\n\tadmin off\n}\n${sites}`);
    return ['run', '--config', file, '--adapter', 'caddyfile'];
  });
}

function usableCaddy(): string | undefined {
  const file = findExecutable('caddy');
  if (file === undefined) return undefined;
  const version = /^v?2\.(\d+)/.exec(execFileSync(file, ['version'], { encoding: 'utf8' }));
  // A build from source may not know its version.
  return version === null || Number(version[1]) >= 8 ? file : undefined;
}

/** Applies changes to a recipe. Fails if one doesn't match, so that we really test the recipe. */
function changed(text: string, changes: readonly [string | RegExp, string][]): string {
  return changes.reduce((all, [from, to]) => {
    const next = all.replace(from, to);
    if (next === all) throw new Error(`The recipe has no ${String(from)} any more.`);
    return next;
  }, text);
}

async function start(
  program: string,
  configure: (folder: string, port: number) => readonly string[],
): Promise<FrontProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'front-proxy-'));
  const port = await freePort();
  const child = spawn(program, configure(folder, port), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${program} did not start:\n${said}`);
    await delay(20);
  }
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
}
