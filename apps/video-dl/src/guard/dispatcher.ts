import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { ConnectOptions } from './guard.js';

type Connect = (options: ConnectOptions) => Promise<Socket>;

/** Does TLS (server name, ALPN, session reuse) over a socket that the guard opened. */
const secure = buildConnector({ timeout: 10_000 });

/**
 * An undici agent that opens connections only through `connect`.
 * @param signal ends its pending connections and its pool
 */
export function createGuardedDispatcher(connect: Connect, signal?: AbortSignal): Agent {
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
          signal?.addEventListener('abort', () => socket.destroy(), { once: true });
          secure({ ...target, httpSocket: socket }, callback);
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
    maxHeaderSize: 64 * 1024,
  });
  if (signal) {
    const end = () => void agent.destroy();
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }
  return agent;
}
