import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ServerResponse, request, type IncomingMessage } from 'node:http';
import { DomainError } from '@media-services/http-common';
import { createGuard, EgressProxy, type EgressSession } from '../src/index.js';
import { blockedHosts } from './support/addresses.js';
import { silentLogger, startServer, type TestServer } from './support/servers.js';

const oneByteChunks = 50_000;
let site: TestServer;
let proxy: EgressProxy;
let session: EgressSession;
let held: ServerResponse | undefined;
let onHeld: () => void;
let seen: Record<string, unknown>;

beforeAll(async () => {
  site = await startServer((request, response) => {
    seen = { url: request.url, method: request.method, headers: request.headers };
    if (request.url === '/hold') {
      held = response;
      response.write('first');
      onHeld();
    } else if (request.url === '/redirect') {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
    } else if (request.url === '/break') {
      response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
    } else if (request.url === '/endless') {
      // When the client disconnects, some Node versions report an error here. Writing again would loop forever.
      const more = (error?: Error | null): void => {
        if (!error) response.write(Buffer.alloc(16_384), more);
      };
      response.on('error', () => undefined);
      more();
    } else if (request.url === '/one-byte-chunks') {
      const wire = '1\r\n \r\n'.repeat(oneByteChunks);
      response.socket?.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${wire}0\r\n\r\n`);
    } else if (request.url === '/upgrade') {
      response.writeHead(101, { connection: 'Upgrade', upgrade: 'other' }).end();
    } else if (request.url === '/echo') {
      request.pipe(response);
    } else {
      response.setHeader('x-site', 'yes').end('hello');
    }
  });
  const guard = createGuard({ allowedPrivateSources: [`127.0.0.1:${site.port}`], connectTimeoutMs: 60_000 });
  proxy = await EgressProxy.start({ guard, logger: silentLogger });
});
const budget = {
  maxBytes: 100_000,
  maxConnections: 50,
  onExceeded: (what: string) => new DomainError('upstream_timeout', `too many ${what}`),
};
beforeEach(() => {
  session = proxy.openSession(budget);
});
afterEach(() => session.close());
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const proxyPort = () => Number(new URL(session.proxyUrl).port);

describe('the egress proxy', () => {
  it('forwards an absolute-form request and its response', async () => {
    const answer = await getThrough(session.proxyUrl, `${site.url}/page?q=1`, {
      'user-agent': 'engine',
      'x-hop': 'drop me',
      connection: 'close, x-hop',
    });
    expect(answer).toMatchObject({ status: 200, body: 'hello', headers: { 'x-site': 'yes' } });
    expect(seen).toMatchObject({
      url: '/page?q=1',
      headers: { 'user-agent': 'engine', host: `127.0.0.1:${site.port}` },
    });
    expect(seen['headers']).not.toHaveProperty('proxy-authorization');
    expect(seen['headers']).not.toHaveProperty('x-hop');
    expect(session.failures).toEqual([]);
  });

  it('tunnels CONNECT in both directions', async () => {
    const { status, socket } = await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`);
    expect(status).toBe(200);
    socket.write('GET /inside HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK[\s\S]*hello$/);
  });

  it('forwards a request body', async () => {
    const credentials = Buffer.from(
      new URL(session.proxyUrl).username + ':' + new URL(session.proxyUrl).password,
    );
    const answer = await sendRaw(
      proxyPort(),
      `POST ${site.url}/echo HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${credentials.toString('base64')}\r\n` +
        'Connection: close\r\nContent-Length: 5\r\n\r\nabcde',
    );
    expect(answer).toContain('abcde');
  });

  it.each([
    ['no credentials', (url: URL) => (url.username = '')],
    ['an unknown session', (url: URL) => (url.username = 'ffff')],
    ['a wrong secret', (url: URL) => (url.password = 'ffff')],
  ])('returns 407 for %s', async (_what, spoil) => {
    const url = new URL(session.proxyUrl);
    spoil(url);
    expect((await getThrough(url.href, `${site.url}/`)).status).toBe(407);
    expect((await tunnelThrough(url.href, `127.0.0.1:${site.port}`)).status).toBe(407);
  });

  it('returns 407 for a closed session', async () => {
    session.close();
    expect((await getThrough(session.proxyUrl, `${site.url}/`)).status).toBe(407);
  });

  it.each(blockedHosts.filter(([host]) => /^[\x20-\x7e]+$/.test(host)))(
    'blocks %s (%s) for requests and tunnels, and records it in the session',
    async (host) => {
      expect((await getThrough(session.proxyUrl, `http://${host}:81/`)).status).toBe(403);
      expect((await tunnelThrough(session.proxyUrl, `${host}:443`)).status).toBe(403);
      expect(session.failures.map(({ code }) => code)).toEqual(['forbidden_address', 'forbidden_address']);
    },
  );

  it.each(['request', 'tunnel'])('ends a session whose responses exceed its byte limit (%s)', async (way) => {
    const read = async () => {
      if (way === 'request') return getThrough(session.proxyUrl, `${site.url}/endless`);
      const { socket } = await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`);
      socket.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n');
      socket.resume();
      return once(socket, 'close');
    };
    await read().catch(() => undefined);
    expect(session.failures.map(({ message }) => message)).toEqual(['too many bytes']);
    expect((await getThrough(session.proxyUrl, `${site.url}/`)).status).toBe(407);
  });

  it('ends a session that exceeds its connection limit', async () => {
    const many = proxy.openSession({ ...budget, maxConnections: 2 });
    for (let request = 0; request < 2; request += 1) {
      expect((await getThrough(many.proxyUrl, `${site.url}/`)).status).toBe(200);
    }
    await expect(getThrough(many.proxyUrl, `${site.url}/`)).rejects.toThrow();
    expect(many.failures.map(({ message }) => message)).toEqual(['too many connections']);
  });

  it('leaves redirects to the client and blocks a private target', async () => {
    const { status, headers } = await getThrough(session.proxyUrl, `${site.url}/redirect`);
    expect(status).toBe(302);
    expect((await getThrough(session.proxyUrl, headers.location ?? '')).status).toBe(403);
  });

  it('keeps the failures of two sessions apart', async () => {
    const other = proxy.openSession(budget);
    await getThrough(other.proxyUrl, 'http://10.0.0.1/');
    expect(other.failures).toHaveLength(1);
    expect(session.failures).toHaveLength(0);
    other.close();
  });

  it('returns 502 and records it when the site refuses the connection', async () => {
    const closed = await startServer(() => undefined);
    await closed[Symbol.asyncDispose]();
    const guard = createGuard({ allowedPrivateSources: ['127.0.0.1'] });
    const own = await EgressProxy.start({ guard, logger: silentLogger });
    const ownSession = own.openSession(budget);
    expect((await getThrough(ownSession.proxyUrl, `${closed.url}/`)).status).toBe(502);
    expect((await tunnelThrough(ownSession.proxyUrl, `127.0.0.1:${closed.port}`)).status).toBe(502);
    expect(ownSession.failures.map(({ code }) => code)).toEqual([
      'upstream_unreachable',
      'upstream_unreachable',
    ]);
    await own[Symbol.asyncDispose]();
  });

  it('handles few pieces in a turn of the event loop when a site sends chunks of one byte', async () => {
    let [inTurn, most, turn] = [0, 0, setImmediate(() => undefined)];
    const count = () => (most = Math.max(most, (inTurn += 1)));
    const next = () => ([inTurn, turn] = [0, setImmediate(next)]);
    next();
    diagnostics.subscribe('undici:request:bodyChunkReceived', count);
    try {
      // Framing counts too.
      const { proxyUrl } = proxy.openSession({ ...budget, maxBytes: 10 * oneByteChunks });
      const { body } = await getThrough(proxyUrl, `${site.url}/one-byte-chunks`);
      expect(body).toBe(' '.repeat(oneByteChunks));
    } finally {
      diagnostics.unsubscribe('undici:request:bodyChunkReceived', count);
      clearImmediate(turn);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2048);
  });

  it('returns 502 when the site switches protocols without being asked', async () => {
    expect((await getThrough(session.proxyUrl, `${site.url}/upgrade`)).status).toBe(502);
    expect(session.failures.map(({ code }) => code)).toEqual(['upstream_unreachable']);
  });

  it('returns 504 and records it when the lookup times out', async () => {
    const guard = createGuard({
      allowedPrivateSources: [],
      lookupTimeoutMs: 10,
      lookup: () => new Promise(() => undefined),
    });
    const own = await EgressProxy.start({ guard, logger: silentLogger });
    const ownSession = own.openSession(budget);
    expect((await getThrough(ownSession.proxyUrl, 'http://slow.example/')).status).toBe(504);
    expect(ownSession.failures.map(({ code }) => code)).toEqual(['upstream_timeout']);
    await own[Symbol.asyncDispose]();
  });

  it('aborts the client connection when the site aborts', async () => {
    await expect(getThrough(session.proxyUrl, `${site.url}/break`)).rejects.toThrow(/aborted|hang up|reset/);
  });

  it.each(['https://127.0.0.1/', '/relative', 'ftp://127.0.0.1/', 'http://'])(
    'returns 400 for the target %s',
    async (target) => {
      expect((await getThrough(session.proxyUrl, target)).status).toBe(400);
    },
  );

  it.each(['nohost', '127.0.0.1:0', '127.0.0.1:99999', 'a/b:80', ':80'])(
    'returns 400 for CONNECT %s',
    async (authority) => {
      expect((await tunnelThrough(session.proxyUrl, authority)).status).toBe(400);
    },
  );

  it('destroys all sockets on both sides when a session is closed', async () => {
    const held1 = new Promise<void>((resolve) => (onHeld = resolve));
    const answering = getThrough(session.proxyUrl, `${site.url}/hold`);
    const tunnel = await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`);
    await held1;
    const ended = [...site.sockets].map((socket) => once(socket, 'close'));
    expect(ended.length).toBeGreaterThanOrEqual(2);
    const broken = expect(answering).rejects.toThrow(/aborted|reset/);
    session.close();
    await Promise.all([...ended, broken, once(tunnel.socket, 'close')]);
  });

  it('closes the connection to the site when the client leaves', async () => {
    const holding = new Promise<void>((resolve) => (onHeld = resolve));
    const client = connect(proxyPort(), '127.0.0.1');
    const credentials = Buffer.from(
      new URL(session.proxyUrl).username + ':' + new URL(session.proxyUrl).password,
    );
    client.write(
      `GET ${site.url}/hold HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${credentials.toString('base64')}\r\n\r\n`,
    );
    await holding;
    if (!held) throw new Error('nothing held');
    const closed = once(held, 'close');
    client.destroy();
    await closed;
  });
});

interface ProxyResponse {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

/** Sends an absolute-form request through a proxy. */
async function getThrough(
  proxyUrl: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<ProxyResponse> {
  const proxy = new URL(proxyUrl);
  const outgoing = request({
    host: proxy.hostname,
    port: proxy.port,
    path: target,
    agent: false,
    headers: { ...headers, ...authorization(proxy) },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, body, headers: response.headers };
}

/** Requests a tunnel from a proxy; `socket` is open if the status is 200. */
async function tunnelThrough(
  proxyUrl: string,
  authority: string,
): Promise<{ status: number; socket: Socket }> {
  const proxy = new URL(proxyUrl);
  const outgoing = request({
    host: proxy.hostname,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: authorization(proxy),
  });
  outgoing.end();
  const [response, socket] = (await once(outgoing, 'connect')) as [IncomingMessage, Socket];
  socket.on('error', () => undefined);
  if (response.statusCode !== 200) socket.destroy();
  return { status: response.statusCode ?? 0, socket };
}

/** Sends raw bytes and returns the whole response. */
async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

function authorization(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  return {
    'proxy-authorization': `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}`,
  };
}
