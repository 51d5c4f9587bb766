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
  /** TLS over a socket that the guard opened; made by `createTlsConnector`. */
  readonly secure: buildConnector.connector;
  /** Ends pending connections and the pool. */
  readonly signal: AbortSignal;
}

/**
 * Server name, ALPN and session reuse; shared by all dispatchers of a guard so
 * that sessions are reused across jobs.
 * @param trustedRoots PEM certificates that take the place of the usual roots
 */
export function createTlsConnector(trustedRoots: readonly string[] | undefined): buildConnector.connector {
  // Read once: a list of all public roots takes longer than a handshake.
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
