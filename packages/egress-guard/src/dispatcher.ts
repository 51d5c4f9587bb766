import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { Agent, buildConnector } from 'undici';

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
      const port = target.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(target.port);
      connect({ host: hostname, port, signal }).then(
        (socket) => {
          if (protocol !== 'https:') {
            callback(null, socket);
            return;
          }
          const onAbort = () => socket.destroy();
          signal.addEventListener('abort', onAbort, { once: true });
          secure({ ...target, httpSocket: socket }, (...result) => {
            signal.removeEventListener('abort', onAbort);
            callback(...result);
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
