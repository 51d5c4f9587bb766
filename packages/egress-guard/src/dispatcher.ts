import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { DomainError } from '@media-services/http-common';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { portOf } from './host.js';
import { assertNotOwnApi } from './own-api.js';
import { Traffic } from './traffic.js';

type Connect = (target: {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal | undefined;
}) => Promise<Socket>;

interface DispatcherOptions {
  readonly connect: Connect;
  /** Starts TLS on a socket that the guard opened; made by `createTlsConnector`. */
  readonly secure: buildConnector.connector;
  /** Ends pending connections and the pool. */
  readonly signal: AbortSignal;
  /** Receives the bytes that the connections read, framing included. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/**
 * Handles server name, ALPN and session reuse. All dispatchers of a guard share it, so jobs
 * reuse TLS sessions.
 * @param trustedRoots PEM certificates that replace the default roots
 */
export function createTlsConnector(trustedRoots: readonly string[] | undefined): buildConnector.connector {
  // Parse once: parsing all public roots takes longer than a handshake.
  const secureContext = trustedRoots && createSecureContext({ ca: [...trustedRoots] });
  return buildConnector({ timeout: 10_000, ...(secureContext && { secureContext }) });
}

/** More informational responses than any server sends. */
const maxInformational = 32;

/** An undici agent that opens connections only through `connect`, and limits what no reader of a body sees. */
export class GuardedDispatcher extends Agent {
  readonly #traffic: Traffic;

  constructor({ connect, secure, signal, onBytes = () => undefined }: DispatcherOptions) {
    super({
      connect: (target, callback) => {
        const { hostname, protocol } = target;
        connect({ host: hostname, port: portOf(target), signal }).then(
          (socket) => {
            this.#traffic.add(socket);
            if (protocol !== 'https:') {
              callback(null, withTrueEnd(socket));
              return;
            }
            const onAbort = () => socket.destroy();
            signal.addEventListener('abort', onAbort, { once: true });
            secure({ ...target, httpSocket: socket }, (...[error, secured]) => {
              signal.removeEventListener('abort', onAbort);
              if (error === null) callback(null, withTrueEnd(secured));
              else callback(error, null);
            });
          },
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
        );
      },
      maxHeaderSize: 64 * 1024,
    });
    this.#traffic = new Traffic({ onBytes, onExcess: () => void this.destroy(tooMuchFraming()) });
    const end = () => void this.destroy();
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }

  /** Reports what has arrived to `onBytes` now. */
  measure(): void {
    this.#traffic.measure();
  }

  /** @throws DomainError `forbidden_address` for our own API */
  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    assertNotOwnApi(new URL(`${new URL(options.origin ?? '').origin}${options.path}`));
    return super.dispatch(options, this.#counted(handler));
  }

  /** undici passes a handler's own kind of callbacks through, older or newer. */
  #counted(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    let informational = 0;
    const onStatus = (status: number): void => {
      if (status < 100) void this.destroy(invalidStatus(status));
      else if (status < 200 && ++informational > maxInformational) void this.destroy(tooMuchFraming());
    };
    const before: Readonly<Record<string, (...args: readonly unknown[]) => void>> = {
      onHeaders: (status) => onStatus(Number(status)),
      onResponseStart: (_controller, status) => onStatus(Number(status)),
      onData: (chunk) => this.#traffic.addBody((chunk as Buffer).length),
      onResponseData: (_controller, chunk) => this.#traffic.addBody((chunk as Buffer).length),
    };
    return new Proxy(handler, {
      get: (target, name) => {
        const callback: unknown = Reflect.get(target, name);
        if (typeof callback !== 'function') return callback;
        return (...args: unknown[]): unknown => {
          before[String(name)]?.(...args);
          return Reflect.apply(callback, target, args);
        };
      },
    });
  }
}

function invalidStatus(status: number): DomainError {
  return new DomainError('upstream_error', `The site's server sent the invalid HTTP status ${status}.`);
}

function tooMuchFraming(): DomainError {
  return new DomainError(
    'upstream_error',
    "The site's server sends protocol overhead instead of content. Try another page.",
  );
}

/** undici's parser of a connection's responses. */
interface ResponseParser {
  paused: boolean;
  /** Whether the connection outlives the response. If not, undici takes a reset for its end. */
  shouldKeepAlive: boolean;
  /** A pointer in the memory of `llhttp`. */
  readonly ptr: number;
  readonly llhttp: { llhttp_resume(parser: number): void };
  resume(): void;
}

/**
 * Works around two bugs of undici 7 when a connection ends:
 * - If the response is paused, it throws an uncaught error, so any server could end the service
 *   (nodejs/undici#5360; fixed in version 8, which needs Node 22). Resuming delivers nothing too
 *   early, because everything that arrived has been read by then.
 * - It takes a reset for the end of a response without a length.
 */
function withTrueEnd(socket: Socket): Socket {
  return socket
    .on('end', () => {
      const parser = parserOf(socket);
      // Completes a response of a stated length. Any other pauses again.
      parser?.resume();
      if (parser?.paused !== true) return;
      parser.llhttp.llhttp_resume(parser.ptr);
      parser.paused = false;
    })
    .on('error', () => {
      const parser = parserOf(socket);
      if (parser !== null) parser.shouldKeepAlive = true;
    })
    .on('close', () => {
      const parser = parserOf(socket);
      if (parser !== null) parser.paused = false;
    });
}

function parserOf(socket: Socket): ResponseParser | null {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  const fields = socket as unknown as Readonly<Record<symbol, ResponseParser | null | undefined>>;
  return key === undefined ? null : (fields[key] ?? null);
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Where a response redirects to, if it does. undici reads each byte of a header as a character, but
 * many sites send UTF-8, which browsers follow.
 * @param location the `Location` header
 */
export function redirectTarget(status: number, location: string | undefined): string | undefined {
  if (location === undefined || !redirectStatuses.has(status)) return undefined;
  const bytes = Buffer.from(location, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : location;
}
