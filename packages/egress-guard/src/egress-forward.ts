import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { DomainError } from '@media-services/http-common';
import type { Dispatcher } from 'undici';
import { Coalescer } from './coalescer.js';
import { type NetworkLogger, type ProxySession, rejectionFor } from './egress-session.js';
import type { Guard } from './guard.js';

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
  try {
    const url = parseTarget(request.url ?? '');
    const signal = AbortSignal.any([session.signal, gone.signal]);
    session.countConnection();
    const dispatcher = guard.createDispatcher({
      signal,
      exit: session.exit,
      client: session.client,
      onBytes: (count) => session.countBytes(count),
    });
    const site = await send(request, url, dispatcher);
    response.writeHead(site.status, site.statusMessage, endToEnd(site.rawHeaders));
    response.flushHeaders();
    for (let chunk = await site.body.next(); chunk !== null; chunk = await site.body.next()) {
      dispatcher.measure();
      signal.throwIfAborted();
      if (!response.write(chunk)) await once(response, 'drain', { signal });
    }
    response.end();
  } catch (error) {
    const rejection = gone.signal.aborted ? null : rejectionFor(error, session, logger);
    if (rejection === null || response.headersSent) response.destroy();
    else response.writeHead(rejection.status, { connection: 'close' }).end(rejection.reason);
  } finally {
    gone.abort();
  }
}

function parseTarget(target: string): URL {
  if (!/^http:\/\//i.test(target) || !URL.canParse(target)) {
    throw new DomainError('invalid_url', 'The page leads to an invalid URL.');
  }
  return new URL(target);
}

interface SiteResponse {
  readonly status: number;
  readonly statusMessage: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** In chunks of our own size, however the site splits it. */
  readonly body: Coalescer;
}

/**
 * Sends a request through undici, because its parser stops as soon as the coalescer pauses it. Node's
 * own parser first handles everything it has read: 10 000 pieces of one byte.
 */
function send(request: IncomingMessage, url: URL, dispatcher: Dispatcher): Promise<SiteResponse> {
  return new Promise((resolve, reject) => {
    let body: Coalescer | undefined;
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: request.method ?? 'GET',
        headers: [...endToEnd(request.rawHeaders, ['host']), 'Host', url.host],
        body: hasBody(request) ? request : null,
        // Every request has its own connection.
        reset: true,
        // The session's job has its own deadline.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart: () => undefined,
        onResponseStart: (controller, status, _headers, statusMessage = '') => {
          if (status < 200) return;
          body = new Coalescer(controller);
          resolve({ status, statusMessage, rawHeaders: textsOf(controller.rawHeaders), body });
        },
        onResponseData: (_controller, piece) => body?.push(piece),
        onResponseEnd: () => body?.end(),
        onResponseError: (_controller, error) => {
          body?.end(error);
          reject(error);
        },
      },
    );
  });
}

function textsOf(rawHeaders: Dispatcher.DispatchController['rawHeaders']): string[] {
  const texts: readonly (Buffer | string)[] = Array.isArray(rawHeaders) ? rawHeaders : [];
  return texts.map((text) => (typeof text === 'string' ? text : text.toString('latin1')));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The end-to-end headers, with their original case and order. */
function endToEnd(rawHeaders: readonly string[], alsoDropped: readonly string[] = []): string[] {
  const names = rawHeaders.map((name) => name.toLowerCase());
  const dropped = new Set([...hopByHop, ...alsoDropped]);
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (names[index] !== 'connection') continue;
    for (const listed of (names[index + 1] ?? '').split(',')) dropped.add(listed.trim());
  }
  return rawHeaders.filter((_text, index) => !dropped.has(names[index - (index % 2)] ?? ''));
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
