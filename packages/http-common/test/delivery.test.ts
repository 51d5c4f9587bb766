import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { rawRequest, startTestService } from './support/http.js';

/** Fits into the buffers of both ends, so that the service has passed on all of it at once. */
const bodyBytes = 2_000_000;

/** A client that reads nothing before `resume`. */
async function slowClient(
  url: string,
  { version = '1.1', more = '' }: { version?: string; more?: string } = {},
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  await once(socket, 'connect');
  socket.write(`GET /api/bytes?length=${bodyBytes}${more} HTTP/${version}\r\nHost: test\r\n\r\n`);
  return socket;
}

/** Reads to the end. Resolves with the number of bytes and how the connection ended. */
async function readAll(socket: Socket): Promise<{ bytes: number; end: string }> {
  let bytes = 0;
  return new Promise((resolve) => {
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.on('end', () => resolve({ bytes, end: 'closed' }));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve({ bytes, end: code ?? '' }));
    socket.resume();
  });
}

describe('the end of a long response', () => {
  it.each(['1.1', '1.0'])(
    'reaches a client that reads later than the service stops (HTTP/%s)',
    async (version) => {
      const { service, log, nextWritten, nextRequestLog } = await startTestService();
      const written = nextWritten();
      const client = await slowClient(service.url, { version });
      await written;
      let hasStopped = false;
      const stopped = service.stop().then(() => (hasStopped = true));
      await fetch(`${service.metricsUrl}/livez`);
      expect(hasStopped).toBe(false);
      expect(log.filter(({ msg }) => msg === 'request')).toEqual([]);
      const logged = nextRequestLog();

      const { bytes, end } = await readAll(client);
      await stopped;
      expect({ end, isComplete: bytes > bodyBytes }).toEqual({ end: 'closed', isComplete: true });
      expect(await logged).toMatchObject({ outcome: 'ok' });
    },
  );

  it('reaches a client that reads later, without a length and on a connection that stays open', async () => {
    const { service, nextWritten } = await startTestService();
    const written = nextWritten();
    const client = await slowClient(service.url, { more: '&chunked' });
    await written;
    let hasStopped = false;
    const stopped = service.stop().then(() => (hasStopped = true));
    await fetch(`${service.metricsUrl}/livez`);
    expect(hasStopped).toBe(false);
    expect(await readAll(client)).toMatchObject({ end: 'closed' });
    await stopped;
  });

  it('is broken off visibly if the client has not read it within the grace period', async () => {
    const { service, nextWritten, nextRequestLog } = await startTestService({ graceSeconds: 0.05 });
    const written = nextWritten();
    const client = await slowClient(service.url);
    await written;
    const logged = nextRequestLog();
    await service.stop();
    expect(await logged).toMatchObject({ outcome: 'truncated', code: 'engine_unavailable' });
    // Less than the stated length. libuv reports a reset behind unread data as an end.
    expect((await readAll(client)).bytes).toBeLessThan(bodyBytes);
  });

  it('counts as aborted if the client leaves without it', async () => {
    const { service, nextWritten, nextRequestLog } = await startTestService();
    const written = nextWritten();
    const client = await slowClient(service.url);
    await written;
    const logged = nextRequestLog();
    client.resetAndDestroy();
    expect(await logged).toMatchObject({ status: 200, outcome: 'aborted' });
    await service.stop();
  });

  it('is the last thing on its connection', async () => {
    const { service, metrics } = await startTestService();
    const long = `GET /api/bytes?length=${bodyBytes} HTTP/1.1\r\nHost: test\r\n\r\n`;
    let sent = false;
    const { text } = await rawRequest(service.url, long, (socket) => {
      if (!sent) socket.write('GET /api/hello HTTP/1.1\r\nHost: test\r\n\r\n');
      sent = true;
    });
    expect(text).toMatch(/\r\nConnection: close\r\n/);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(await metrics.registry.metrics()).not.toContain('route="/api/hello"');
    await service.stop();
  });
});

it.each([
  ['a short response', '1000', 0, 'keep-alive'],
  ['a long one', '1000000', 0, 'close'],
  ['a long one without a length', '1000000&chunked', 0, 'keep-alive'],
  ['a long one without a length, behind the gateway,', '1000000&chunked', 1, 'close'],
])('%s has the right Connection header', async (_name, query, trustProxyHops, connection) => {
  const { service } = await startTestService({ trustProxyHops });
  const response = await fetch(`${service.url}/api/bytes?length=${query}`);
  expect(response.headers.get('connection')).toBe(connection);
  await response.arrayBuffer();
  await service.stop();
});

it('a short response is complete for a probe that reads only its first line', async () => {
  const { service, nextRequestLog } = await startTestService();
  const logged = nextRequestLog();
  await rawRequest(
    service.url,
    'GET /api/bytes?length=1000 HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n',
    (socket) => socket.resetAndDestroy(),
  );
  expect(await logged).toMatchObject({ outcome: 'ok' });
  await service.stop();
});
