import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A fake service that sends the test's responses and records requests. */
export interface FakeService {
  readonly server: Server;
  /** `address:port` */
  readonly host: string;
  readonly requests: IncomingMessage[];
  /** Replaces the response to all further requests. */
  respondWith: (listener: RequestListener) => void;
  close: () => Promise<void>;
  /** Resets the service: forgets requests and responses, and listens again. */
  reset: () => Promise<void>;
}

const echo: RequestListener = (req, res) => {
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers }));
};

/**
 * No client's address, so that the system gives a closed service's port to no outgoing connection
 * before the service listens again.
 */
const address = '127.0.0.2';

export async function startFakeService(listener: RequestListener = echo): Promise<FakeService> {
  let current = listener;
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    current(req, res);
  });
  server.keepAliveTimeout = 75_000;
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    server,
    host: `${address}:${port}`,
    requests,
    respondWith: (next) => (current = next),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    reset: async () => {
      requests.length = 0;
      current = listener;
      if (server.listening) return;
      server.listen(port, address);
      await once(server, 'listening');
    },
  };
}

/** A listener that responds with JSON. */
export function json(status: number, body: unknown): RequestListener {
  return (_req, res) => {
    res.writeHead(status, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(body));
  };
}
