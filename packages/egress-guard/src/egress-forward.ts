import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { DomainError } from '@media-services/http-common';
import { Coalescer } from './coalescer.js';
import { type NetworkLogger, type ProxySession, rejectionFor } from './egress-session.js';
import { effectivePort, type Guard } from './guard.js';

interface Forward {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly session: ProxySession;
  readonly guard: Guard;
  readonly logger: NetworkLogger;
}

/** Headers for a single connection (RFC 9110 §7.6.1), plus this proxy's credentials. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Handles an absolute-form request: forwards it over a guarded connection and pipes the response back. */
export async function forwardRequest({ request, response, session, guard, logger }: Forward): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  let upstream: Socket | undefined;
  try {
    const url = parseTarget(request.url ?? '');
    const signal = AbortSignal.any([session.signal, gone.signal]);
    session.countConnection();
    upstream = await guard.connect({
      host: url.hostname,
      port: effectivePort(url),
      signal,
      exit: session.exit,
      client: session.client,
    });
    session.own(upstream);
    const incoming = await send(request, url, upstream, signal);
    const body = coalesced(incoming, upstream);
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming));
    response.flushHeaders();
    for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
      session.countBytes(chunk.length);
      signal.throwIfAborted();
      if (!response.write(chunk)) await once(response, 'drain', { signal });
    }
    response.end();
  } catch (error) {
    const rejection = gone.signal.aborted ? null : rejectionFor(error, session, logger);
    if (rejection === null || response.headersSent) response.destroy();
    else response.writeHead(rejection.status, { connection: 'close' }).end(rejection.reason);
  } finally {
    upstream?.destroy();
  }
}

/** Reads a response body in chunks of our own size, however the site splits it. */
function coalesced(incoming: IncomingMessage, socket: Socket): Coalescer {
  const body = new Coalescer({
    // Pausing only the message would keep buffering pieces.
    pause: () => {
      incoming.pause();
      socket.pause();
    },
    resume: () => {
      incoming.resume();
      socket.resume();
    },
  });
  incoming.on('data', (piece: Buffer) => body.push(piece));
  incoming.once('end', () => body.end());
  incoming.once('error', (error) => body.end(error));
  incoming.once('close', () => body.end(new Error('the site closed the connection')));
  return body;
}

function parseTarget(target: string): URL {
  if (!/^http:\/\//i.test(target) || !URL.canParse(target)) {
    throw new DomainError('invalid_url', 'The page leads to an invalid URL.');
  }
  return new URL(target);
}

function send(
  request: IncomingMessage,
  url: URL,
  socket: Socket,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      createConnection: () => socket,
      method: request.method ?? 'GET',
      path: `${url.pathname}${url.search}`,
      headers: [...endToEnd(request, ['host']), 'Host', url.host, 'Connection', 'close'],
      setHost: false,
      signal,
    });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    // A response that switches protocols emits neither event.
    outgoing.once('close', () => reject(new Error('the connection was closed without a response')));
    // An interrupted request body also ends in one of the errors above.
    pipeline(request, outgoing).catch(reject);
  });
}

/** The end-to-end headers, with their original case and order. */
function endToEnd(message: IncomingMessage, alsoDropped: readonly string[] = []): string[] {
  const listed = (message.headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const dropped = new Set([...hopByHop, ...listed, ...alsoDropped]);
  const kept: string[] = [];
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2) {
    const name = message.rawHeaders[index] ?? '';
    if (!dropped.has(name.toLowerCase())) kept.push(name, message.rawHeaders[index + 1] ?? '');
  }
  return kept;
}

interface Tunnel {
  /** `host:port` from the request. */
  readonly authority: string;
  readonly client: Duplex;
  /** Bytes that the client already sent after its CONNECT. */
  readonly head: Buffer;
  readonly session: ProxySession;
  readonly guard: Guard;
  readonly logger: NetworkLogger;
}

/** Handles a CONNECT: pipes both ways between the client and a guarded connection. */
export async function openTunnel({ authority, client, head, session, guard, logger }: Tunnel): Promise<void> {
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  client.on('error', () => client.destroy());
  try {
    const signal = AbortSignal.any([session.signal, gone.signal]);
    session.countConnection();
    const upstream = await guard.connect({
      ...parseAuthority(authority),
      signal,
      exit: session.exit,
      client: session.client,
    });
    session.own(upstream);
    upstream.on('data', (chunk: Buffer) => session.countBytes(chunk.length));
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => client.end());
    client.once('close', () => upstream.destroy());
    if (client.destroyed) return void upstream.destroy();
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    client.pipe(upstream).pipe(client);
  } catch (error) {
    const rejection = gone.signal.aborted ? null : rejectionFor(error, session, logger);
    if (rejection)
      client.end(
        `HTTP/1.1 ${rejection.status} ${rejection.reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
    else client.destroy();
  }
}

function parseAuthority(authority: string): { host: string; port: number } {
  const match = /^(?<host>\[[^\]]+\]|[^:\s/]+):(?<port>\d{1,5})$/.exec(authority);
  const port = Number(match?.groups?.['port']);
  if (match?.groups?.['host'] === undefined || port < 1 || port > 65_535) {
    throw new DomainError('invalid_url', 'The page leads to a URL without a valid host and port.');
  }
  return { host: match.groups['host'], port };
}
