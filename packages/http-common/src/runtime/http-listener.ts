import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigError } from '../config/load-config.js';
import { resetSocket } from '../http/reset-connection.js';
import { answerMalformedRequests } from './malformed-requests.js';

/** Longer than the gateway keeps an idle connection, so that it never writes into one just closed here. */
const keepAliveTimeoutMs = 75_000;
const headersTimeoutMs = 76_000;
/** Of each connection, in bytes: large streams are written a few pieces at a time, which costs a third less than one by one. */
const highWaterMark = 256 * 1024;

export interface HttpListener {
  readonly url: string;
  readonly server: Server;
  /** Stops listening; resolves when the last connection is gone, at the latest after `graceMs`, by force. */
  close(graceMs: number): Promise<void>;
}

/**
 * Listens on a port (0 for any free one).
 * @throws ConfigError when the port cannot be had; the message names the setting.
 */
export async function listen(options: {
  readonly handler: RequestListener;
  readonly host: string;
  readonly port: number;
  readonly portSetting: string;
}): Promise<HttpListener> {
  const server = createServer({ highWaterMark }, options.handler);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.headersTimeout = headersTimeoutMs;
  // Streams and uploads have deadlines of their own that know the stage they are in.
  server.requestTimeout = 0;

  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const responses = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    responses.add(response);
    response.once('close', () => responses.delete(response));
  });
  answerMalformedRequests(server, (socket) => [...responses].some((response) => response.socket === socket));

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    server,
    close: async (graceMs) => closeServer(server, { sockets, responses }, graceMs),
  };
}

async function closeServer(
  server: Server,
  { sockets, responses }: { sockets: ReadonlySet<Socket>; responses: ReadonlySet<ServerResponse> },
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Connections are kept alive: one that becomes idle from now on would be waited for to the end of the grace.
  for (const response of responses) {
    response.once('close', () => setImmediate(() => server.closeIdleConnections()));
  }
  // A reset, because a plain close would look like a complete answer to an HTTP/1.0 client.
  const timer = setTimeout(() => sockets.forEach(resetSocket), graceMs);
  await closed;
  clearTimeout(timer);
}

function listenError(
  error: NodeJS.ErrnoException,
  { host, port, portSetting }: { host: string; port: number; portSetting: string },
): Error {
  if (error.code === 'EADDRINUSE') {
    return new ConfigError([
      `${portSetting} is ${port}, which another program already uses; stop it or choose another`,
    ]);
  }
  if (error.code === 'EACCES') {
    return new ConfigError([
      `${portSetting} is ${port}, which this user may not open; choose one above 1023`,
    ]);
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new ConfigError([`HOST is ${host}, which is not an address of this machine`]);
  }
  return error;
}
