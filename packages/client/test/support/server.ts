import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A gateway that answers as the test says, one listener for each request and the last one from then on. */
export async function startServer(...listeners: [RequestListener, ...RequestListener[]]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    const listener = listeners[Math.min(requests.length, listeners.length - 1)];
    requests.push(req);
    req.resume();
    listener?.(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A problem document as the services write it. */
export function problem(
  status: number,
  code: string,
  { retryable = false, headers = {} }: { retryable?: boolean; headers?: Record<string, string> } = {},
): RequestListener {
  return (_req, res) => {
    res.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers });
    res.end(
      JSON.stringify({ title: 'T', status, detail: `detail of ${code}`, code, retryable, requestId: 'id-1' }),
    );
  };
}

export function file(
  contentType: string,
  bytes: string,
  headers: Record<string, string> = {},
): RequestListener {
  return (_req, res) => {
    res.writeHead(200, { 'Content-Type': contentType, ...headers });
    res.end(bytes);
  };
}

/** Half of a file, then a reset. */
export const brokenFile: RequestListener = (_req, res) => {
  res.writeHead(200, { 'Content-Type': 'audio/mpeg' });
  res.write('half', () => setImmediate(() => res.socket?.resetAndDestroy()));
};
