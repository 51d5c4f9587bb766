import type { Duplex } from 'node:stream';
import { DomainError } from '@media-services/http-common';
import { refusalFor } from './egress-failure.js';
import type { ProxySession } from './egress-session.js';
import type { Guard } from './guard.js';
import type { NetworkLogger } from './network-logger.js';

interface Tunnel {
  /** `host:port` as the engine asked for it. */
  readonly authority: string;
  readonly client: Duplex;
  /** What the client sent behind its CONNECT already. */
  readonly head: Buffer;
  readonly session: ProxySession;
  readonly guard: Guard;
  readonly logger: NetworkLogger;
}

/** Answers a CONNECT: two pipes between the client and the guarded connection. */
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
    const refusal = gone.signal.aborted ? null : refusalFor(error, session, logger);
    if (refusal)
      client.end(
        `HTTP/1.1 ${refusal.status} ${refusal.reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
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
