import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { request } from 'undici';
import { createGuard, type LookupFn } from '../src/index.js';
import { parseOutboundProxies } from '../src/outbound-proxy.js';
import { startServer, type TestServer, tryConnect } from './support/servers.js';

/** A small CONNECT proxy that checks credentials and resolves every name to loopback. */
async function startConnectProxy(answer = 200): Promise<{ server: Server; port: number; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (incoming, client) => {
    const authority = incoming.url ?? '';
    asked.push(authority);
    client.on('error', () => client.destroy());
    const known =
      incoming.headers['proxy-authorization'] === `Basic ${Buffer.from('op:s3cret/').toString('base64')}`;
    if (!known || answer !== 200) {
      client.end(`HTTP/1.1 ${known ? answer : 407} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(authority.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.once('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, asked };
}

const lookup: LookupFn = (name) => {
  const known: Record<string, string> = { 'public.example': '93.184.216.34', 'private.example': '10.0.0.1' };
  const address = known[name];
  return address
    ? Promise.resolve([{ address }])
    : Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
};

describe('OUTBOUND_PROXY', () => {
  let site: TestServer;
  let proxy: Awaited<ReturnType<typeof startConnectProxy>>;
  const owner = new AbortController();

  const guardThrough = (credentials = 'op:s3cret%2F@', port = proxy.port) =>
    createGuard({
      allowedPrivateSources: [],
      outboundProxy: `http://${credentials}127.0.0.1:${port}`,
      lookup,
    });

  beforeAll(async () => {
    site = await startServer((incoming, response) => response.end(incoming.headers.host));
    proxy = await startConnectProxy();
  });
  beforeEach(() => proxy.asked.splice(0));
  afterAll(async () => {
    owner.abort();
    await site[Symbol.asyncDispose]();
    proxy.server.close();
    proxy.server.closeAllConnections();
  });

  it('receives the checked address, not the name', async () => {
    const dispatcher = guardThrough().createDispatcher({ signal: owner.signal });
    const { body } = await request(`http://public.example:${site.port}/`, { dispatcher });
    expect(await body.text()).toBe(`public.example:${site.port}`);
    expect(proxy.asked).toEqual([`93.184.216.34:${site.port}`]);
  });

  it('receives the name if our resolver does not know it', async () => {
    const dispatcher = guardThrough().createDispatcher({ signal: owner.signal });
    const { body } = await request(`http://outside.example:${site.port}/`, { dispatcher });
    await body.text();
    expect(proxy.asked).toEqual([`outside.example:${site.port}`]);
  });

  it.each([
    'private.example',
    '10.0.0.1',
    '[::1]',
    '2130706433',
    'metadata',
    'metadata.google.internal',
    'x.local',
    'localhost',
  ])('never receives %s', async (host) => {
    await expect(tryConnect(guardThrough(), { host, port: site.port })).rejects.toMatchObject({
      code: 'forbidden_address',
    });
    expect(proxy.asked).toEqual([]);
  });

  it('with wrong credentials makes the site unreachable', async () => {
    await expect(
      tryConnect(guardThrough('op:wrong@'), { host: 'public.example', port: 80 }),
    ).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('407') as string,
    });
  });

  it('that refuses or cannot be reached makes the site unreachable, without revealing credentials', async () => {
    const refusing = await startConnectProxy(403);
    for (const port of [refusing.port, 1]) {
      const failure = await tryConnect(guardThrough(undefined, port), {
        host: 'public.example',
        port: 80,
      }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'upstream_unreachable' });
      expect(String(failure)).not.toMatch(/s3cret|127\.0\.0\.1/);
    }
    refusing.server.close();
    refusing.server.closeAllConnections();
  });

  it('that stalls times out', async () => {
    const stalling = createServer();
    stalling.on('connect', (_incoming, client) => client.resume().on('end', () => client.destroy()));
    stalling.listen(0, '127.0.0.1');
    await once(stalling, 'listening');
    const { port } = stalling.address() as AddressInfo;
    const guard = createGuard({
      allowedPrivateSources: [],
      outboundProxy: `http://127.0.0.1:${port}`,
      lookup,
      connectTimeoutMs: 20,
    });
    await expect(tryConnect(guard, { host: 'public.example', port: 80 })).rejects.toMatchObject({
      code: 'upstream_timeout',
    });
    const gone = AbortSignal.abort(new Error('client gone'));
    const patient = createGuard({
      allowedPrivateSources: [],
      outboundProxy: `http://127.0.0.1:${port}`,
      lookup,
    });
    await expect(tryConnect(patient, { host: 'public.example', port: 80, signal: gone })).rejects.toThrow(
      'client gone',
    );
    stalling.close();
    stalling.closeAllConnections();
  });

  it.each(['ftp://127.0.0.1:1', 'not a url', '127.0.0.1:3128', 'http://127.0.0.1:1,nonsense'])(
    'cannot be %s',
    (outboundProxy) => {
      expect(() => createGuard({ allowedPrivateSources: [], outboundProxy })).toThrow(
        /http:\/\/, https:\/\//,
      );
    },
  );

  it('explains how to write a bare % in a password', () => {
    expect(() => parseOutboundProxies('http://op:100%@127.0.0.1:3128')).toThrow(/write it as %25/);
  });

  it('is the one that the job selects from several', async () => {
    const second = await startConnectProxy();
    const guard = createGuard({
      allowedPrivateSources: [],
      outboundProxy: `http://op:s3cret%2F@127.0.0.1:${proxy.port}, http://op:s3cret%2F@127.0.0.1:${second.port}`,
      lookup,
    });
    expect(guard.exits).toBe(2);
    const dispatcher = guard.createDispatcher({ signal: owner.signal, exit: 1 });
    await (await request(`http://public.example:${site.port}/`, { dispatcher })).body.text();
    const socket = await guard.connect({ host: 'public.example', port: site.port, exit: 3 });
    socket.destroy();
    expect([proxy.asked.length, second.asked.length]).toEqual([0, 2]);
    second.server.close();
    second.server.closeAllConnections();
  });
});

describe('a SOCKS 5 proxy', () => {
  const owner = new AbortController();
  afterAll(() => owner.abort());

  it('receives the checked address, and a name only if our resolver does not know it', async () => {
    await using site = await startServer((_incoming, response) => response.end('hello'));
    await using socks = await startSocksServer('op', 's3cret/');
    const guard = createGuard({
      allowedPrivateSources: [],
      outboundProxy: `socks5h://op:s3cret%2F@127.0.0.1:${socks.port}`,
      lookup,
    });
    const dispatcher = guard.createDispatcher({ signal: owner.signal });
    for (const host of ['public.example', 'outside.example']) {
      const { body } = await request(`http://${host}:${site.port}/`, { dispatcher });
      expect(await body.text()).toBe('hello');
    }
    expect(socks.asked).toEqual([`93.184.216.34:${site.port}`, `outside.example:${site.port}`]);
    await expect(tryConnect(guard, { host: 'private.example', port: site.port })).rejects.toMatchObject({
      code: 'forbidden_address',
    });
  });

  it('that refuses, is not there or stalls makes the site unreachable, without revealing credentials', async () => {
    await using socks = await startSocksServer('op', 'right');
    const silent = createTcpServer((socket) => void socket.resume().on('end', () => socket.destroy()));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    for (const [port, code, connectTimeoutMs] of [
      [socks.port, 'upstream_unreachable', 60_000],
      [1, 'upstream_unreachable', 60_000],
      [(silent.address() as AddressInfo).port, 'upstream_timeout', 50],
    ] as const) {
      const guard = createGuard({
        allowedPrivateSources: [],
        outboundProxy: `socks5h://op:wr0ng@127.0.0.1:${port}`,
        lookup,
        connectTimeoutMs,
      });
      const failure = await tryConnect(guard, { host: 'public.example', port: 80 }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code });
      expect(String(failure)).not.toMatch(/wr0ng|127\.0\.0\.1/);
    }
    silent.close();
  });

  it('is cancelled with its job', async () => {
    await using silent = await startServer(() => undefined);
    const guard = createGuard({
      allowedPrivateSources: [],
      outboundProxy: `socks5h://127.0.0.1:${silent.port}`,
      lookup,
    });
    const job = new AbortController();
    const accepted = once(silent.server, 'connection');
    const connecting = tryConnect(guard, { host: 'public.example', port: 80, signal: job.signal });
    const failed = expect(connecting).rejects.toThrow('client gone');
    await accepted;
    job.abort(new Error('client gone'));
    await failed;
  });
});

interface SocksServer extends AsyncDisposable {
  readonly port: number;
  /** Requested targets; names are not resolved. */
  readonly asked: string[];
}

/** A small real SOCKS 5 server with user and password that resolves every name to loopback (RFC 1928, RFC 1929). */
async function startSocksServer(user: string, password: string): Promise<SocksServer> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const own = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
  };
  const server = createTcpServer((client) => void serve(own(client)).catch(() => client.destroy()));

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
