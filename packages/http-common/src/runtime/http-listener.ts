import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { ConfigError } from '../config/load-config.js';
import { DomainError, InvalidRequestError } from '../errors/domain-error.js';
import { sharedErrors } from '../errors/error-table.js';
import { problemMediaType, toProblem } from '../errors/problem.js';
import { isClosing } from '../http/delivery.js';
import { noteBreak } from '../http/request-context.js';
import { Connections } from './connections.js';

/** Longer than the gateway keeps idle connections, so that it never writes to one we have just closed. */
const keepAliveTimeoutMs = 75_000;
const headersTimeoutMs = 76_000;
/**
 * Bytes per connection. Large streams then write several chunks at a time, which costs a third
 * less CPU than one by one.
 */
const highWaterMark = 256 * 1024;

export interface HttpListener {
  readonly url: string;
  /**
   * Stops listening. Resolves when the last connection has closed; resets the remaining ones
   * after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Listens on a port (0 for any free one).
 * @throws ConfigError if the port is not available; the message names the setting
 */
export async function listen(options: {
  readonly handler: RequestListener;
  readonly host: string;
  readonly port: number;
  readonly portSetting: string;
}): Promise<HttpListener> {
  // `createHttpApp` rejects a request without Host with a problem; Node would send only a status.
  const server = createServer({ highWaterMark, requireHostHeader: false });
  // Like the gateway, ignore an unknown `Expect`; Node would send only a status.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.headersTimeout = headersTimeoutMs;
  // Streams and uploads have their own deadlines for each stage.
  server.requestTimeout = 0;

  const connections = new Connections(server);
  server.on('request', (request, response) => {
    if (isClosing(request.socket)) return;
    connections.add(response);
    options.handler(request, response);
  });
  const responseOn = (socket: Duplex) => connections.responseOn(socket);
  answerMalformedRequests(server, responseOn);
  answerConnect(server, responseOn);

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: async (graceMs) => closeServer(server, connections, graceMs),
  };
}

async function closeServer(server: Server, connections: Connections, graceMs: number): Promise<void> {
  // Not `server.close`, which would also close the connections that still deliver their last bytes.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  connections.drain();
  const timer = setTimeout(() => connections.resetAll(), graceMs);
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

/** Time to send the last response of a connection. */
const lastWriteMs = 5000;

/** The response in progress on a connection. */
type ResponseOn = (socket: Duplex) => ServerResponse | undefined;

/**
 * Responds with a problem when Node's HTTP parser rejects a request (malformed request line or
 * body, more than 16 KiB of headers). By default, Node sends only a status. If another request of
 * the connection is being answered, we can only close it: anything we wrote would become part of
 * that response.
 */
function answerMalformedRequests(server: Server, responseOn: ResponseOn): void {
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    const response = responseOn(socket);
    const belongsToEarlierRequest = response !== undefined && (response.headersSent || response.req.complete);
    const clientHasLeft =
      error.code === 'ECONNRESET' || (response !== undefined && error.code === 'HPE_INVALID_EOF_STATE');
    if (!socket.writable || clientHasLeft || belongsToEarlierRequest) {
      socket.destroy();
      return;
    }
    const problem = new InvalidRequestError(
      [{ field: 'request', message: 'is malformed or too long' }],
      'The request is malformed, or its URL or headers are too long. Check how its query and body are encoded.',
    );
    if (response !== undefined) {
      response.statusCode = 400;
      noteBreak(response, problem);
    }
    const requestId = response?.getHeader('X-Request-Id')?.toString() ?? requestIdIn(error.rawPacket);
    endWithProblem(socket, problem, { status: '400 Bad Request', requestId });
  });
}

/** The request id in a malformed request, which the gateway puts among its first headers. */
function requestIdIn(packet: Buffer | undefined): string | undefined {
  return /\r\nX-Request-ID: ([A-Za-z0-9_-]{1,64})\r\n/i.exec(packet?.toString('latin1') ?? '')?.[1];
}

/** Rejects CONNECT, for which Node would only close the connection. */
function answerConnect(server: Server, responseOn: ResponseOn): void {
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    if (responseOn(socket) !== undefined) {
      socket.destroy();
      return;
    }
    const problem = new DomainError(
      'method_not_allowed',
      'This server is not a proxy. Use GET, HEAD or POST.',
    );
    endWithProblem(socket, problem, {
      status: '405 Method Not Allowed',
      headers: ['Allow: GET, HEAD, POST'],
    });
  });
}

/** Sends a problem that no app handles, and closes the connection. */
function endWithProblem(
  socket: Duplex,
  error: DomainError,
  {
    status,
    headers = [],
    requestId = randomUUID(),
  }: {
    readonly status: string;
    readonly headers?: readonly string[];
    readonly requestId?: string | undefined;
  },
): void {
  // The requested host is unknown, so the documentation's URL is a path.
  const body = JSON.stringify(toProblem(error, { errors: sharedErrors, requestId, docsBaseUrl: '' }));
  const response = [
    `HTTP/1.1 ${status}`,
    ...headers,
    `Content-Type: ${problemMediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Server-Timing: total;dur=0.0',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
  socket.end(response, () => socket.destroy());
  // Node no longer watches this connection, and a client may not read.
  const timer = setTimeout(() => socket.destroy(), lastWriteMs);
  socket.once('close', () => clearTimeout(timer));
}
