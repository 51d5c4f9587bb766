import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@media-services/http-common';
import { Coalescer } from './coalescer.js';
import { refusalFor } from './egress-failure.js';
import type { NetworkLogger } from './network-logger.js';
import type { ProxySession } from './egress-session.js';
import { effectivePort, type Guard } from './guard.js';

interface Forward {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly session: ProxySession;
  readonly guard: Guard;
  readonly logger: NetworkLogger;
}

/** Meant for one connection only (RFC 9110 §7.6.1), plus this proxy's own credentials. */
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

/** Answers an absolute-form request: sends it on over a guarded connection and pipes the answer back. */
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
    const answer = await send(request, url, upstream, signal);
    const body = coalesced(answer, upstream);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer));
    response.flushHeaders();
    for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
      session.countBytes(chunk.length);
      signal.throwIfAborted();
      if (!response.write(chunk)) await once(response, 'drain', { signal });
    }
    response.end();
  } catch (error) {
    const refusal = gone.signal.aborted ? null : refusalFor(error, session, logger);
    if (refusal === null || response.headersSent) response.destroy();
    else response.writeHead(refusal.status, { connection: 'close' }).end(refusal.reason);
  } finally {
    upstream?.destroy();
  }
}

/** A response body in chunks of our size, whatever pieces the site sends it in. */
function coalesced(answer: IncomingMessage, socket: Socket): Coalescer {
  const body = new Coalescer({
    // The message alone would go on to store pieces.
    pause: () => {
      answer.pause();
      socket.pause();
    },
    resume: () => {
      answer.resume();
      socket.resume();
    },
  });
  answer.on('data', (piece: Buffer) => body.push(piece));
  answer.once('end', () => body.end());
  answer.once('error', (error) => body.end(error));
  answer.once('close', () => body.end(new Error('the site closed the connection')));
  return body;
}

function parseTarget(target: string): URL {
  if (!/^http:\/\//i.test(target) || !URL.canParse(target)) {
    throw new DomainError('invalid_url', 'The page leads to a URL that is not valid.');
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
    // Neither comes of an answer that changes to another protocol.
    outgoing.once('close', () => reject(new Error('the connection was closed without an answer')));
    // A body that breaks off ends in the error of one of the two above.
    pipeline(request, outgoing).catch(reject);
  });
}

/** The headers that go through, in their spelling and order. */
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
