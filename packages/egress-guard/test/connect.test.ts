import { getEventListeners, once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, type connect as tcpConnect, createServer as createTcpServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { request } from 'undici';
import { GuardedDispatcher, createTlsConnector } from '../src/dispatcher.js';
import { createGuard, type Guard } from '../src/index.js';
import { certificate, key, startServer, type TestServer, tryConnect } from './support/servers.js';

const guards: AbortController[] = [];

function guardFor(allowed: string[], answers?: string[][]): { guard: Guard; lookups: () => number } {
  let lookups = 0;
  const guard = createGuard({
    allowedPrivateSources: allowed,
    connectTimeoutMs: 60_000,
    ...(answers && {
      lookup: () => {
        const answer = answers[Math.min(lookups++, answers.length - 1)] ?? [];
        return Promise.resolve(answer.map((address) => ({ address })));
      },
    }),
  });
  return { guard, lookups: () => lookups };
}

async function get(guard: Guard, url: string): Promise<string> {
  const gone = new AbortController();
  guards.push(gone);
  const { body } = await request(url, { dispatcher: guard.createDispatcher({ signal: gone.signal }) });
  return body.text();
}

describe('the guarded connector', () => {
  let wanted: TestServer;
  let victim: TestServer;

  beforeEach(async () => {
    wanted = await startServer((_request, response) => response.end('wanted'), '127.0.0.2');
    victim = await startServer((_request, response) => response.end('secret'), '127.0.0.1');
  });
  afterEach(async () => {
    for (const gone of guards.splice(0)) gone.abort();
    await wanted[Symbol.asyncDispose]();
    await victim[Symbol.asyncDispose]();
  });

  it('connects to the checked address even if the name resolves differently the second time', async () => {
    const { guard, lookups } = guardFor(['127.0.0.2'], [['127.0.0.2'], ['127.0.0.1']]);
    expect(await get(guard, `http://rebinding.example:${wanted.port}/`)).toBe('wanted');
    expect(lookups()).toBe(1);
  });

  it('checks every new connection again, despite an earlier allowed result', async () => {
    const { guard } = guardFor(['127.0.0.2'], [['127.0.0.2'], ['127.0.0.1']]);
    await guard.checkUrl(new URL(`http://rebinding.example:${victim.port}/`));
    await expect(get(guard, `http://rebinding.example:${victim.port}/`)).rejects.toMatchObject({
      code: 'forbidden_address',
    });
    expect(victim.sockets.size).toBe(0);
  });

  it('tries the next address when the first refuses the connection', async () => {
    const { guard } = guardFor(['127.0.0.0/8'], [['127.0.0.3', '127.0.0.2']]);
    expect(await get(guard, `http://two.example:${wanted.port}/`)).toBe('wanted');
  });

  it('reports a refused connection as unreachable', async () => {
    const closed = await startServer(() => undefined);
    await closed[Symbol.asyncDispose]();
    const { guard } = guardFor(['127.0.0.1']);
    await expect(tryConnect(guard, { host: '127.0.0.1', port: closed.port })).rejects.toMatchObject({
      code: 'upstream_unreachable',
    });
  });

  it('does not start if the caller is already gone', async () => {
    const { guard } = guardFor(['127.0.0.1']);
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(tryConnect(guard, { host: '127.0.0.1', port: victim.port, signal })).rejects.toThrow('gone');
    expect(victim.sockets.size).toBe(0);
  });

  it('closes idle connections when their owner aborts', async () => {
    const { guard } = guardFor(['127.0.0.2']);
    const owner = new AbortController();
    const { body } = await request(wanted.url, {
      dispatcher: guard.createDispatcher({ signal: owner.signal }),
    });
    await body.text();
    const [socket] = wanted.sockets;
    if (!socket) throw new Error('the connection is not kept alive');
    owner.abort();
    await once(socket, 'close');
  });
});

describe('ALLOWED_PRIVATE_SOURCES', () => {
  it.each([
    ['10.0.0.0/8', 'http://10.1.2.3:99/'],
    ['10.1.2.3', 'http://10.1.2.3/'],
    ['10.1.2.3:8080', 'http://10.1.2.3:8080/'],
    ['::1/128', 'http://[::1]/'],
    ['[::1]:80', 'http://[::1]/'],
    ['fd00::/8', 'https://[fd12::1]/'],
    ['localhost:8080', 'http://localhost:8080/'],
    ['127.0.0.1:8080', 'http://2130706433:8080/'],
  ])('%s allows %s', async (entry, url) => {
    await createGuard({
      allowedPrivateSources: [entry],
      lookup: () => Promise.resolve([{ address: '127.0.0.1' }]),
    }).checkUrl(new URL(url));
  });

  it.each([
    ['10.0.0.0/8', 'http://11.0.0.1.nip.example/', '172.16.0.1'],
    ['10.1.2.3:8080', 'http://10.1.2.3:8081/', ''],
    ['localhost:8080', 'http://localhost:8081/', '127.0.0.1'],
    ['localhost:8080', 'http://127.0.0.1:8080/', ''],
    ['0.0.0.0/0', 'http://[::1]/', ''],
  ])('%s does not allow %s', async (entry, url, answer) => {
    const guard = createGuard({
      allowedPrivateSources: [entry],
      lookup: () => Promise.resolve([{ address: answer }]),
    });
    await expect(guard.checkUrl(new URL(url))).rejects.toMatchObject({ code: 'forbidden_address' });
  });

  it.each(['', '10.0.0.0/33', 'host', 'host:0', 'host:70000', 'http://host:80', '10.0.0', 'a b:80'])(
    'rejects the entry %j and lists the supported formats',
    (entry) => {
      expect(() => createGuard({ allowedPrivateSources: [entry] })).toThrow(/host:port/);
    },
  );
});

const secure = createTlsConnector(undefined);

describe('a connection of the dispatcher', () => {
  it.each([
    ['http://video.example/', 80],
    ['https://video.example/', 443],
    ['http://video.example:8080/', 8080],
    ['https://video.example:8443/', 8443],
  ])('to %s goes through the guard, port %d', async (url, port) => {
    const asked: unknown[] = [];
    const owner = new AbortController();
    const failure = new Error('refused');
    const connect = (target: unknown) => {
      asked.push(target);
      return Promise.reject(failure);
    };
    const dispatcher = new GuardedDispatcher({ connect, secure, signal: owner.signal });
    await expect(request(url, { dispatcher })).rejects.toBe(failure);
    expect(asked).toEqual([{ host: 'video.example', port, signal: owner.signal }]);
    owner.abort();
  });

  it('is not opened for an owner that is already gone', async () => {
    const connect = () => Promise.reject(new Error('asked'));
    const dispatcher = new GuardedDispatcher({ connect, secure, signal: AbortSignal.abort() });
    await expect(request('http://video.example/', { dispatcher })).rejects.toMatchObject({
      code: 'UND_ERR_DESTROYED',
    });
  });

  it('accepts the long headers that media servers send', async () => {
    await using site = await startServer((_request, response) => {
      response.setHeader('x-long', 'a'.repeat(40_000)).end();
    });
    const guard = createGuard({ allowedPrivateSources: ['127.0.0.1'] });
    const owner = new AbortController();
    const dispatcher = guard.createDispatcher({ signal: owner.signal });
    const { headers, body } = await request(site.url, { dispatcher });
    await body.dump();
    expect(headers['x-long']).toHaveLength(40_000);
    owner.abort();
    expect(getEventListeners(owner.signal, 'abort')).toHaveLength(0);
  });
});

const lookup = () => Promise.resolve([{ address: '127.0.0.1' }]);

describe('TLS over the guarded connection', () => {
  let server: Server;
  let port: number;
  const owner = new AbortController();

  const guardWith = (trustedRoots?: string[]): Guard =>
    createGuard({ allowedPrivateSources: ['127.0.0.1/32'], lookup, trustedRoots });

  beforeAll(async () => {
    server = createServer({ key, cert: certificate, ALPNProtocols: ['http/1.1'] }, (incoming, response) => {
      const { socket } = incoming;
      if (!(socket instanceof TLSSocket)) throw new Error('not TLS');
      const { servername } = socket as TLSSocket & { servername?: string };
      response.end(JSON.stringify({ servername, alpn: socket.alpnProtocol, host: incoming.headers.host }));
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    owner.abort();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });

  it('names the server, not its address', async () => {
    const dispatcher = guardWith([certificate]).createDispatcher({ signal: owner.signal });
    const { body } = await request(`https://video.example:${port}/`, { dispatcher });
    expect(await body.json()).toEqual({
      servername: 'video.example',
      alpn: 'http/1.1',
      host: `video.example:${port}`,
    });
  });

  it.each([
    ['that is not trusted', undefined, 'video.example'],
    ['for another name', [certificate], 'other.example'],
  ])('rejects a certificate %s', async (_what, roots, host) => {
    const dispatcher = guardWith(roots).createDispatcher({ signal: owner.signal });
    await expect(request(`https://${host}:${port}/`, { dispatcher })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID)$/) as string,
    });
  });

  it('is closed when its owner aborts during the handshake', async () => {
    const silent = createTcpServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const connected = once(silent, 'connection');
    const short = new AbortController();
    const dispatcher = guardWith([certificate]).createDispatcher({ signal: short.signal });
    const asking = request(`https://video.example:${(silent.address() as AddressInfo).port}/`, {
      dispatcher,
    });
    const failed = expect(asking).rejects.toThrow();
    const [socket] = (await connected) as [ReturnType<typeof tcpConnect>];
    socket.resume();
    const closed = new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined));
    short.abort();
    await Promise.all([closed, failed]);
    silent.close();
  });
});
