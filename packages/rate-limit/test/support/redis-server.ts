import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';

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

/**
 * Starts Redis.
 * @returns undefined if another program listens on the port
 */
async function launch(port: number): Promise<ChildProcess | undefined> {
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
  let said = '';
  const ready = (async () => {
    for await (const text of child.stdout) {
      said += String(text);
      if (said.includes('Ready to accept connections')) return true;
    }
    if (said.includes('Address already in use')) return false;
    throw new Error(`redis-server ended before it was ready:\n${said}`);
  })();
  if (!(await Promise.race([ready, failed]))) return undefined;
  child.stdout.resume();
  return child;
}

/** Starts Redis on a free port, without persistence. */
export async function startRedis(): Promise<RedisServer> {
  let port: number;
  let child: ChildProcess | undefined;
  do {
    // Below the ephemeral range, so that the system gives it to no outgoing connection.
    port = randomInt(20_000, 30_000);
    child = await launch(port);
  } while (child === undefined);
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    [Symbol.asyncDispose]: kill,
    pause: () => child?.kill('SIGSTOP') ?? false,
    restart: async () => {
      child = await launch(port);
      if (child === undefined) throw new Error(`Another program took Redis's port ${port}.`);
    },
  };
}
