import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as tcpConnect, type Socket } from 'node:net';
import { abortReason, DomainError, withDeadline } from '@media-services/http-common';
import { SocksClient, SocksClientError } from 'socks';
import { hostForAuthority, portOf } from './host.js';

interface Hop {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** One of the operator's outbound proxies. */
export interface OutboundProxy {
  /**
   * Opens a tunnel to the first of `hosts` that the proxy reaches.
   * @throws DomainError `upstream_unreachable` | `upstream_timeout`; `signal.reason`
   */
  connect(hosts: readonly string[], port: number, hop: Hop): Promise<Socket>;
}

const form =
  'must be http://, https:// or socks5h:// URLs of proxies, such as http://user:password@host:port';

/**
 * Parses a list of proxies, separated by commas or white space.
 * @throws TypeError that explains the problem without revealing credentials
 */
export function parseOutboundProxies(text: string): OutboundProxy[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((entry) => {
      const url = URL.canParse(entry) ? new URL(entry) : null;
      if (url === null || url.hostname === '') throw new TypeError(form);
      const credentials = credentialsOf(url);
      if (url.protocol === 'http:' || url.protocol === 'https:') return new HttpProxy(url, credentials);
      if (url.protocol === 'socks5h:' || url.protocol === 'socks5:') return new SocksProxy(url, credentials);
      throw new TypeError(form);
    });
}

interface Credentials {
  readonly user: string;
  readonly password: string;
}

function credentialsOf({ username, password }: URL): Credentials | null {
  if (username === '') return null;
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    throw new TypeError(
      'has a % in the user or password that is not followed by two hexadecimal digits: write it as %25',
    );
  }
}

/** Tries the hosts in order. @throws the first failure if none works */
async function connectToFirst<T>(
  hosts: readonly string[],
  signal: AbortSignal | undefined,
  open: (host: string) => Promise<T>,
): Promise<T> {
  let failure: unknown;
  for (const host of hosts) {
    try {
      return await open(host);
    } catch (error) {
      if (signal?.aborted) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

/** SOCKS 5 (RFC 1928, RFC 1929). The proxy resolves names that our resolver doesn't know. */
class SocksProxy implements OutboundProxy {
  readonly #host: string;
  readonly #port: number;
  readonly #credentials: Credentials | null;

  constructor({ hostname, port }: URL, credentials: Credentials | null) {
    this.#host = hostname.replace(/^\[|\]$/g, '');
    this.#port = port === '' ? 1080 : Number(port);
    this.#credentials = credentials;
  }

  connect(hosts: readonly string[], port: number, hop: Hop): Promise<Socket> {
    return connectToFirst(hosts, hop.signal, (host) => this.#open(host, port, hop));
  }

  async #open(host: string, port: number, { signal, timeoutMs }: Hop): Promise<Socket> {
    return withDeadline({ timeoutMs, signal, late: tooSlow }, (ended) =>
      this.#negotiate(host, port, { signal: ended, timeoutMs }),
    );
  }

  async #negotiate(
    host: string,
    port: number,
    { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  ): Promise<Socket> {
    signal.throwIfAborted();
    const socket = tcpConnect({ host: this.#host, port: this.#port });
    const onAbort = () => socket.destroy(abortReason(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await opened(socket);
      const { user, password } = this.#credentials ?? {};
      await SocksClient.createConnection({
        proxy: {
          host: this.#host,
          port: this.#port,
          type: 5,
          ...(user !== undefined && { userId: user, password: password ?? '' }),
        },
        command: 'connect',
        destination: { host, port },
        existing_socket: socket,
        // Our own timeout comes first, and has the better error.
        timeout: 2 * timeoutMs,
      });
      socket.setNoDelay(true);
      return socket;
    } catch (error) {
      socket.destroy();
      if (signal.aborted) throw abortReason(signal);
      const refused = error instanceof SocksClientError;
      throw failed(
        'upstream_unreachable',
        refused ? 'refused the connection' : 'cannot be reached',
        toError(error),
      );
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** HTTP CONNECT, also for plain HTTP sites. */
class HttpProxy implements OutboundProxy {
  readonly #url: URL;
  readonly #authorization: string | undefined;

  constructor(url: URL, credentials: Credentials | null) {
    this.#url = url;
    if (credentials) {
      const { user, password } = credentials;
      this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    }
  }

  connect(hosts: readonly string[], port: number, hop: Hop): Promise<Socket> {
    return connectToFirst(hosts, hop.signal, (host) =>
      this.#tunnel(`${hostForAuthority(host)}:${port}`, hop),
    );
  }

  #tunnel(authority: string, { signal, timeoutMs }: Hop): Promise<Socket> {
    return withDeadline({ timeoutMs, signal, late: tooSlow }, (ended) => this.#request(authority, ended));
  }

  #request(authority: string, signal: AbortSignal): Promise<Socket> {
    const { protocol, hostname } = this.#url;
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const request = send({
        host: hostname.replace(/^\[|\]$/g, ''),
        port: portOf(this.#url),
        method: 'CONNECT',
        path: authority,
        agent: false,
        headers: {
          host: authority,
          ...(this.#authorization && { 'proxy-authorization': this.#authorization }),
        },
      });
      const settle = (outcome: () => void) => {
        signal.removeEventListener('abort', onAbort);
        outcome();
      };
      const fail = (error: Error) => settle(() => reject(error));
      const onAbort = () => request.destroy(abortReason(signal));
      signal.addEventListener('abort', onAbort, { once: true });
      request.once('connect', (response, socket: Socket, head) => {
        if (response.statusCode !== 200) {
          socket.destroy();
          fail(failed('upstream_unreachable', `refused the connection (HTTP ${response.statusCode ?? 0})`));
          return;
        }
        if (head.length > 0) socket.unshift(head);
        socket.setNoDelay(true);
        settle(() => resolve(socket));
      });
      request.once('response', (response) => {
        response.destroy();
        fail(failed('upstream_unreachable', `does not support CONNECT (HTTP ${response.statusCode ?? 0})`));
      });
      request.on('error', (error) =>
        fail(
          error instanceof DomainError || signal.aborted
            ? error
            : failed('upstream_unreachable', 'cannot be reached', error),
        ),
      );
      request.end();
    });
  }
}

function tooSlow(): DomainError {
  return failed('upstream_timeout', 'did not respond in time');
}

function failed(code: 'upstream_timeout' | 'upstream_unreachable', what: string, cause?: Error): DomainError {
  return new DomainError(code, `The site could not be reached: the outbound proxy of this service ${what}.`, {
    cause,
  });
}

function opened(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
