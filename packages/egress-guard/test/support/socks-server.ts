import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SocksServer extends AsyncDisposable {
  readonly port: number;
  /** Requested targets; names are not resolved. */
  readonly asked: string[];
}

/** A small real SOCKS 5 server with user and password that resolves every name to loopback (RFC 1928, RFC 1929). */
export async function startSocksServer(user: string, password: string): Promise<SocksServer> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const own = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => void serve(own(client)).catch(() => client.destroy()));

  async function serve(client: Socket): Promise<void> {
    await read(client);
    client.write(Buffer.from([5, 2]));
    const login = await read(client);
    const userLength = login[1] ?? 0;
    const given = [login.subarray(2, 2 + userLength), login.subarray(3 + userLength)].map(String);
    const isKnown = given[0] === user && given[1] === password;
    client.write(Buffer.from([1, isKnown ? 0 : 1]));
    if (!isKnown) return void client.end();
    const request = await read(client);
    const isName = request[3] === 3;
    const host = isName
      ? request.subarray(5, 5 + (request[4] ?? 0)).toString()
      : [...request.subarray(4, 8)].join('.');
    const port = request.readUInt16BE(request.length - 2);
    asked.push(`${host}:${port}`);
    const upstream = own(connect(port, '127.0.0.1'));
    await once(upstream, 'connect');
    client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    client.pipe(upstream).pipe(client);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function read(socket: Socket): Promise<Buffer> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk;
}
