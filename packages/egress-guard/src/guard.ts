import type { Socket } from 'node:net';
import { DomainError, errorCode } from '@media-services/http-common';
import { AllowList } from './allow-list.js';
import { createTlsConnector, GuardedDispatcher } from './dispatcher.js';
import { ConnectTimeoutError, connectFirst } from './happy-eyeballs.js';
import { portOf } from './host.js';
import { assertNotOwnApi } from './own-api.js';
import { OwnAddresses } from './own-addresses.js';
import { parseOutboundProxies } from './outbound-proxy.js';
import { AddressPolicy } from './policy.js';
import { createSystemLookup, type LookupFn } from './system-lookup.js';

export interface GuardOptions {
  /** CIDRs or host:port that we may connect to even though they aren't public. */
  readonly allowedPrivateSources: readonly string[];
  /** Addresses and CIDRs that we must not connect to even though they are public. */
  readonly blockedSources?: readonly string[] | undefined;
  /** `http(s)://` or `socks5h://` URLs of the operator's proxies, separated by commas. Every connection uses one of them. */
  readonly outboundProxy?: string | undefined;
  readonly lookup?: LookupFn | undefined;
  readonly lookupTimeoutMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** PEM certificates of the only authorities to trust; Node's own roots if absent. */
  readonly trustedRoots?: readonly string[] | undefined;
}

export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal | undefined;
  /** Index of the outbound proxy; the first by default. */
  readonly exit?: number | undefined;
  /** The requesting client: name lookups are limited per client. */
  readonly client?: string | undefined;
}

/** The only way this process connects to the outside. */
export interface Guard {
  /**
   * Looks `host` up once, checks its addresses and opens a TCP connection to one of them.
   * @throws DomainError `invalid_url` | `forbidden_address` | `upstream_unreachable` | `upstream_timeout`; `signal.reason`
   */
  connect(options: ConnectOptions): Promise<Socket>;
  /**
   * Checks the URL's scheme, form and host without connecting.
   * @throws the same errors as `connect`
   */
  checkUrl(url: URL, signal?: AbortSignal, client?: string): Promise<void>;
  /**
   * An undici dispatcher that opens every connection with `connect` and closes them with `signal`. It follows no redirects.
   * @param options.exit the outbound proxy for all connections, because signed URLs are bound to the IP that requested them
   */
  createDispatcher(options: {
    signal: AbortSignal;
    exit?: number | undefined;
    /** The owner of the connections: name lookups are limited per client. */
    client?: string | undefined;
    /** Receives the bytes that the connections read, framing included, several times a second. */
    onBytes?: ((count: number) => void) | undefined;
  }): GuardedDispatcher;
  /** Number of outbound proxies to choose from; 1 if none is configured. */
  readonly exits: number;
}

/**
 * Creates the guard.
 *
 * With an outbound proxy, we still look up and check each name and ask the proxy for the
 * checked address, so it looks up nothing again. It gets a name only when our resolver
 * doesn't know it (intranets whose resolver knows no outside names need this) and the name
 * isn't a local one. We don't check the proxy's own address: the operator has set it.
 * @throws TypeError when an option can't be parsed
 */
export function createGuard(options: GuardOptions): Guard {
  const proxies = parseOutboundProxies(options.outboundProxy ?? '');
  const timeoutMs = options.connectTimeoutMs ?? 10_000;
  const policy = new AddressPolicy({
    allowed: new AllowList(options.allowedPrivateSources),
    own: new OwnAddresses(options.blockedSources ?? []),
    lookup: options.lookup ?? createSystemLookup(),
    lookupTimeoutMs: options.lookupTimeoutMs ?? 10_000,
    behindProxy: proxies.length > 0,
  });

  const secure = createTlsConnector(options.trustedRoots);
  const connect = async ({ host, port, signal, exit = 0, client }: ConnectOptions): Promise<Socket> => {
    const target = await policy.check(host, port, signal, client);
    const proxy = proxies[exit % Math.max(1, proxies.length)];
    if (proxy) return proxy.connect(target.addresses, port, { signal, timeoutMs });
    try {
      return await connectFirst(target.addresses, port, { signal, timeoutMs, attemptDelayMs: 250 });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw unreachable(target.host, error);
    }
  };

  return {
    connect,
    async checkUrl(url, signal, client) {
      if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
        throw new DomainError(
          'invalid_url',
          'Only http:// and https:// URLs without user name and password are supported.',
        );
      }
      assertNotOwnApi(url);
      await policy.check(url.hostname, portOf(url), signal, client);
    },
    createDispatcher: ({ signal, exit, client, onBytes }) =>
      new GuardedDispatcher({
        connect: (target) => connect({ ...target, exit, client }),
        secure,
        signal,
        onBytes,
      }),
    exits: Math.max(1, proxies.length),
  };
}

function unreachable(host: string, cause: unknown): DomainError {
  if (cause instanceof ConnectTimeoutError) {
    return new DomainError('upstream_timeout', `The site ${host} did not respond in time. Try again later.`, {
      cause,
    });
  }
  const why = errorCode(cause) === 'ECONNREFUSED' ? 'it refused the connection' : 'the connection failed';
  return new DomainError(
    'upstream_unreachable',
    `The site ${host} could not be reached: ${why}. Try again later.`,
    {
      cause,
    },
  );
}
