import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { connect as tcpConnect } from 'node:net';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { request } from 'undici';
import { createGuard, type Guard } from '../dist/index.js';
import { certificate, key } from './support/certificate.js';

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
    ['that nobody vouches for', undefined, 'video.example'],
    ['of another name', [certificate], 'other.example'],
  ])('refuses a certificate %s', async (_what, roots, host) => {
    const dispatcher = guardWith(roots).createDispatcher({ signal: owner.signal });
    await expect(request(`https://${host}:${port}/`, { dispatcher })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID)$/) as string,
    });
  });

  it('ends with its owner while it shakes hands', async () => {
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
