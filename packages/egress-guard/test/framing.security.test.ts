import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { DomainError } from '@media-services/http-common';
import { createGuard, EgressProxy, type Guard } from '../src/index.js';
import { silentLogger } from './support/servers.js';

const response = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const endings: Readonly<Record<string, { head: string; endless: string }>> = {
  'chunk extensions': { head: `${response}1;`, endless: 'a'.repeat(65_536) },
  'informational responses': {
    head: '',
    endless: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000),
  },
};

/** Sends one page, the control, and responses that consist of framing. */
async function startSite() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (received: Buffer) => {
      const name = decodeURIComponent(/^GET (?:http:\/\/[^/]+)?\/(\S*)/.exec(received.toString())?.[1] ?? '');
      const ending = endings[name];
      if (ending === undefined) {
        const status = name === 'status-000' ? '000' : '200';
        socket.end(`HTTP/1.1 ${status} OK\r\nContent-Length: 4\r\n\r\npage`);
        return;
      }
      socket.write(ending.head);
      const flood = (): void => {
        while (!socket.destroyed && socket.write(ending.endless));
        if (!socket.destroyed) socket.once('drain', flood);
      };
      flood();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sentBytes: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

let site: Awaited<ReturnType<typeof startSite>>;
let guard: Guard;
beforeEach(async () => {
  site = await startSite();
  guard = createGuard({ allowedPrivateSources: ['127.0.0.1/32'] });
});
afterEach(() => site.close());

const readWhole = async (path: string): Promise<string> => {
  const dispatcher = guard.createDispatcher({ signal: AbortSignal.timeout(60_000) });
  const { body } = await dispatcher.request({
    origin: `http://127.0.0.1:${site.port}`,
    path: `/${encodeURIComponent(path)}`,
    method: 'GET',
  });
  return body.text();
};

it('an invalid status is an error of the site', async () => {
  await expect(readWhole('status-000')).rejects.toThrow('the invalid HTTP status 0');
});

it('a page arrives', async () => {
  expect(await readWhole('page')).toBe('page');
});

it.each(Object.keys(endings))('endless %s end a transfer', async (kind) => {
  await expect(readWhole(kind)).rejects.toThrow('protocol overhead instead of content');
});

it.each(Object.keys(endings))('endless %s count as bytes of the engine', async (kind) => {
  await using proxy = await EgressProxy.start({ guard, logger: silentLogger });
  const session = proxy.openSession({
    maxBytes: 1024 * 1024,
    maxConnections: 5,
    onExceeded: (what) => new DomainError('upstream_error', `too many ${what}`),
  });
  const { hostname, port, username, password } = new URL(session.proxyUrl);
  const asked = request({
    host: hostname,
    port,
    path: `http://127.0.0.1:${site.port}/${encodeURIComponent(kind)}`,
    headers: { 'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
  });
  asked.on('error', () => undefined).on('response', (answer) => answer.on('error', () => undefined).resume());
  asked.end();
  await once(asked, 'close');
  expect(session.failures).toHaveLength(1);
});
