import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { spawn } from 'node:child_process';
import type { ConnectOptions, Guard } from '../../src/index.js';

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Open connections in any state. */
  readonly sockets: ReadonlySet<Socket>;
  readonly server: Server;
}

/** Starts an HTTP server on a loopback address, on a free port by default. */
export async function startServer(
  listener: RequestListener,
  host = '127.0.0.1',
  wantedPort = 0,
): Promise<TestServer> {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(wantedPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    sockets,
    server,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export const silentLogger = { debug: () => undefined, warn: () => undefined };

/** A key and a self-signed certificate for `video.example`, used only in TLS tests. */
export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQemkXld6zAx4p8Vi
M3DnbM2qxjki8D7ddVzh98gl/qmhRANCAAQ5ODGa5Y5vLcGTmxbtLLmN2eSJo/5A
gn9FD/JuD69G6C5qgVGlkPIPCG8CWYY2xkciMfnxsxTs6jvNS+SsB6+L
-----END PRIVATE KEY-----
`;

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBajCCARCgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA12aWRlby5l
eGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA12aWRlby5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEOTgx
muWOby3Bk5sW7Sy5jdnkiaP+QIJ/RQ/ybg+vRuguaoFRpZDyDwhvAlmGNsZHIjH5
8bMU7Oo7zUvkrAevi6NJMEcwGAYDVR0RBBEwD4INdmlkZW8uZXhhbXBsZTAMBgNV
HRMEBTADAQH/MB0GA1UdDgQWBBSG6rdZmcZ9+o1VXtmxKPp+yT+VGjAKBggqhkjO
PQQDAgNIADBFAiEA9BbPmWPH4DC4zv3LHk9uVjc0xiHd4PcJNfZByc0WjhkCIBSk
c+prApjOlJt7P0hLKaWkC9f8dHwHFS6kmW4Zj3vr
-----END CERTIFICATE-----
`;

/** Listens, but never accepts connections from its queue, because it sleeps. */
const sleeper = (address: string) => `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '${address}', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/**
 * A loopback port that never responds: its accept queue is full, so Linux keeps further
 * connections waiting.
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

/** Connects where failure is expected. Destroys an unexpected connection, so it can't affect later tests. */
export async function tryConnect(guard: Guard, options: ConnectOptions): Promise<void> {
  (await guard.connect(options)).destroy();
}
