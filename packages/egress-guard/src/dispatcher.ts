import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import { portOf } from './host.js';

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

/** An undici agent that opens connections only through `connect`. */
export function createGuardedDispatcher({ connect, secure, signal }: DispatcherOptions): Agent {
  const agent = new Agent({
    connect: (target, callback) => {
      const { hostname, protocol } = target;
      connect({ host: hostname, port: portOf(target), signal }).then(
        (socket) => {
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
  const end = () => void agent.destroy();
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return agent;
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
