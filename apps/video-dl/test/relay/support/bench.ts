import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuard, type GuardOptions } from '@media-services/egress-guard';
import { MediaRelay } from '../../../src/relay/media-relay.js';
import type { RelaySession } from '../../../src/relay/session.js';
import type { MediaSource, UpstreamLimits } from '../../../src/upstream/media-source.js';
import { silentLogger } from '../../../../../packages/egress-guard/test/support/servers.js';
import { Faults, sendFile } from '@media-services/fault-site';
import { startParsers } from '../../support/service.js';

/** Small enough for a test, but larger than all buffers on the way. */
export const fileSize = 3_000_000;

/** A media server with injectable faults, and a relay in front of it. */
export interface Bench extends AsyncDisposable {
  /** Origin of the media server. */
  readonly site: string;
  readonly host: string;
  readonly faults: Faults;
  /** Requests to the media server, in order. */
  readonly requests: readonly { path: string; headers: IncomingMessage['headers'] }[];
  readonly file: Buffer;
  readonly relay: MediaRelay;
  /** Sets the test's own handler for a path. */
  on(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void;
  session(renew?: () => Promise<MediaSource>): RelaySession;
  /** A separate relay with other limits or another guard. */
  otherRelay(limits: Partial<UpstreamLimits>, guard?: Partial<GuardOptions>): Promise<MediaRelay>;
}

export const quickLimits: Partial<UpstreamLimits> = {
  firstByteTimeoutMs: 20_000,
  idleTimeoutMs: 1_000,
  retryDelayMs: 1,
  maxRetryDelayMs: 5,
  maxAttempts: 3,
};

export async function startBench(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-'));
  const file = randomBytes(fileSize);
  const path = join(folder, 'file.mp4');
  await writeFile(path, file);
  const faults = new Faults();
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'x'}`);
    requests.push({ path: `${url.pathname}${url.search}`, headers: request.headers });
    const handler = handlers.get(url.pathname);
    if (handler) {
      handler(request, response);
      return;
    }
    if (url.pathname !== '/file.mp4') {
      response.writeHead(404).end();
      return;
    }
    const resource = { url, path, type: 'video/mp4' };
    Promise.resolve(faults.intercept(request, response, resource))
      .then((isAnswered) => (isAnswered ? undefined : sendFile(request, response, path, 'video/mp4')))
      .catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const relays: MediaRelay[] = [];
  const parsers = startParsers();
  const ended = new AbortController();

  const otherRelay = async (limits: Partial<UpstreamLimits>, guardOptions: Partial<GuardOptions> = {}) => {
    const guard = createGuard({ allowedPrivateSources: [host], ...guardOptions });
    const relay = await MediaRelay.start({
      guard,
      logger: silentLogger,
      parsers,
      limits: { ...quickLimits, ...limits },
    });
    relays.push(relay);
    return relay;
  };
  const relay = await otherRelay({});
  return {
    site: `http://${host}`,
    host,
    faults,
    requests,
    file,
    relay,
    on: (at, handler) => void handlers.set(at, handler),
    session: (renew) => relay.open({ signal: ended.signal, renew, client: 'test' }),
    otherRelay,
    async [Symbol.asyncDispose]() {
      ended.abort();
      for (const started of relays) await started[Symbol.asyncDispose]();
      await parsers[Symbol.asyncDispose]();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true });
    },
  };
}

export function fileSource(url: string, more: Partial<MediaSource> = {}): MediaSource {
  return { url, headers: {}, kind: 'file', ...more };
}

export interface Reading {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Whether the response ended cleanly. */
  readonly isClean: boolean;
}

/** Makes a source readable and reads its only input like ffmpeg: to the end or the first error. */
export async function readSource(
  session: RelaySession,
  source: MediaSource,
  headers: Record<string, string> = {},
): Promise<Reading> {
  const [input] = await session.add(source);
  return readInput(session, input?.url ?? '', headers);
}

/** Reads a URL through the proxy in the session's environment. */
export async function readInput(
  session: Pick<RelaySession, 'environment'>,
  url: string,
  headers: Record<string, string> = {},
): Promise<Reading> {
  const response = await requestInput(session, url, headers);
  const parts: Buffer[] = [];
  const isClean = await new Promise<boolean>((resolve) => {
    response.on('data', (chunk: Buffer) => parts.push(chunk));
    // Many tests expect a broken connection.
    response.on('error', () => resolve(false));
    response.on('close', () => resolve(response.complete));
  });
  const received = new Headers(response.headers as Record<string, string>);
  return { status: response.statusCode ?? 0, headers: received, body: Buffer.concat(parts), isClean };
}

/** Sends a request the way ffmpeg sends it to a proxy. */
export async function requestInput(
  { environment }: Pick<RelaySession, 'environment'>,
  url: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<IncomingMessage> {
  const proxy = new URL(environment['http_proxy'] ?? '');
  const credentials = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
  const sent = request({
    host: proxy.hostname,
    port: proxy.port,
    path: url,
    agent: false,
    method,
    headers: { host: new URL(url).host, 'proxy-authorization': `Basic ${credentials}`, ...headers },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // From here on, errors show in the response.
  sent.on('error', () => undefined);
  response.on('error', () => undefined);
  return response;
}

export function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
