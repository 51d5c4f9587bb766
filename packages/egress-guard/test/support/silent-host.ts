import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Takes connections into its queue and never out of it, since it sleeps. */
const sleeper = (address: string) => `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '${address}', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/**
 * A port of a loopback address that answers nothing: its queue is full, and Linux
 * leaves further connections waiting.
 */
export async function startSilentHost(address: string): Promise<AsyncDisposable & { readonly port: number }> {
  const child = spawn(process.execPath, ['-e', sleeper(address)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [written] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(written);
  const queued = [connect(port, address), connect(port, address)];
  for (const socket of queued) {
    socket.on('error', () => undefined);
    if (socket.connecting) await once(socket, 'connect');
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of queued) socket.destroy();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
