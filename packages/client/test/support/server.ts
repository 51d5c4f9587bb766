import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fake gateway: one listener per request, and the last one for all further requests. */
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

interface ProblemOptions {
  readonly retryable?: boolean;
  readonly headers?: Record<string, string>;
  readonly errors?: readonly { field: string; message: string }[];
}

/** Responds with a problem document in the services' format. */
export function problem(
  status: number,
  code: string,
  { retryable = false, headers = {}, errors = [] }: ProblemOptions = {},
): RequestListener {
  return (_req, res) => {
    res.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers });
    res.end(
      JSON.stringify({
        title: 'T',
        status,
        detail: `detail of ${code}`,
        code,
        retryable,
        requestId: 'id-1',
        errors,
      }),
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

/** Sends half of a body, then resets the connection. */
export function brokenAnswer(status: number, contentType: string): RequestListener {
  return (_req, res) => {
    res.writeHead(status, { 'Content-Type': contentType });
    res.write('half', () => setImmediate(() => res.socket?.resetAndDestroy()));
  };
}

export const brokenFile = brokenAnswer(200, 'audio/mpeg');

/**
 * A file that supports ranges with `If-Range`.
 * @param options.breakAfter the byte of the file at which the connection is reset
 * @param options.stallAfter the byte of the file at which the server stops sending
 */
export function rangedFile(
  content: string,
  { etag = '"v1"', breakAfter, stallAfter }: { etag?: string; breakAfter?: number; stallAfter?: number } = {},
): RequestListener {
  return (req, res) => {
    const start = Number(/^bytes=(\d+)-$/.exec(req.headers.range ?? '')?.[1] ?? 0);
    const isPart = start > 0 && req.headers['if-range'] === etag;
    const first = isPart ? start : 0;
    res.writeHead(isPart ? 206 : 200, {
      'Content-Type': 'audio/mpeg',
      'Content-Disposition': 'attachment; filename="Film.mp3"',
      'Content-Length': content.length - first,
      'Accept-Ranges': 'bytes',
      ETag: etag,
      ...(isPart ? { 'Content-Range': `bytes ${first}-${content.length - 1}/${content.length}` } : {}),
    });
    if (stallAfter !== undefined) res.write(content.slice(first, stallAfter));
    else if (breakAfter === undefined) res.end(content.slice(first));
    else res.write(content.slice(first, breakAfter), () => setImmediate(() => res.socket?.resetAndDestroy()));
  };
}
