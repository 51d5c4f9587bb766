import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A stand-in for one service: answers what the test wants and remembers what it was asked. */
export interface FakeService {
  readonly server: Server;
  readonly port: number;
  readonly requests: IncomingMessage[];
  /** Replaces the answer to everything from now on. */
  respondWith: (listener: RequestListener) => void;
  close: () => Promise<void>;
}

const echo: RequestListener = (req, res) => {
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers }));
};

export async function startFakeService(listener: RequestListener = echo): Promise<FakeService> {
  let current = listener;
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    current(req, res);
  });
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    requests,
    respondWith: (next) => (current = next),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A listener that answers with JSON. */
export function json(status: number, body: unknown): RequestListener {
  return (_req, res) => {
    res.writeHead(status, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(body));
  };
}
