import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';

export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Kills the server; it keeps its port for `restart`. */
  kill(): Promise<void>;
  /** Stops it from responding, but keeps its connections open. */
  pause(): boolean;
  /** Starts a new, empty server on the same port. */
  restart(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function launch(port: number): Promise<ChildProcess> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const failed = once(child, 'error').then(([error]: unknown[]) => {
    throw new Error(
      'redis-server cannot be started. Install it with `npm run setup -- --tests` (apt: redis-server)',
      {
        cause: error,
      },
    );
  });
  const ready = (async () => {
    for await (const text of child.stdout) if (String(text).includes('Ready to accept connections')) return;
    throw new Error('redis-server ended before it was ready');
  })();
  await Promise.race([ready, failed]);
  child.stdout.resume();
  return child;
}

/** Starts Redis on a free port, without persistence. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  let child = await launch(port);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    [Symbol.asyncDispose]: kill,
    pause: () => child.kill('SIGSTOP'),
    restart: async () => {
      child = await launch(port);
    },
  };
}
