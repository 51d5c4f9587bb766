import { connect, isIP, type Socket } from 'node:net';
import { abortReason, withDeadline } from '@media-services/http-common';

interface Race {
  readonly signal: AbortSignal | undefined;
  /** For all attempts together. */
  readonly timeoutMs: number;
  /** How long one attempt runs alone before the next address joins it. */
  readonly attemptDelayMs: number;
}

/** No address responded in time. */
export class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError';
}

/**
 * Opens a TCP connection to the first address that responds (RFC 8305 §5: alternates families,
 * staggers attempts, destroys the losers).
 * @param addresses IP addresses only; names are not looked up
 * @throws ConnectTimeoutError, the first address's socket error, `signal.reason`
 */
export async function connectFirst(
  addresses: readonly string[],
  port: number,
  { signal, timeoutMs, attemptDelayMs }: Race,
): Promise<Socket> {
  const late = () => new ConnectTimeoutError(`no response in ${timeoutMs} ms`);
  return withDeadline({ timeoutMs, signal, late }, (ended) =>
    race(addresses, port, { signal: ended, attemptDelayMs }),
  );
}

function race(
  addresses: readonly string[],
  port: number,
  { signal, attemptDelayMs }: { signal: AbortSignal; attemptDelayMs: number },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const waiting = alternateFamilies(addresses);
    const running = new Set<Socket>();
    const errors: Error[] = [];
    let stagger: NodeJS.Timeout | undefined;

    const settle = (outcome: () => void) => {
      clearTimeout(stagger);
      signal.removeEventListener('abort', onAbort);
      for (const socket of running) socket.destroy();
      outcome();
    };
    const onAbort = () => settle(() => reject(abortReason(signal)));

    const attempt = () => {
      clearTimeout(stagger);
      const host = waiting.shift();
      if (host === undefined) return;
      const socket = connect(socketOptions(host, port));
      running.add(socket);
      const onError = (error: Error) => {
        running.delete(socket);
        errors.push(error);
        if (waiting.length > 0) attempt();
        else if (running.size === 0) settle(() => reject(errors[0] ?? error));
      };
      socket.once('error', onError);
      socket.once('connect', () => {
        running.delete(socket);
        socket.removeListener('error', onError);
        settle(() => resolve(socket));
      });
      if (waiting.length > 0) stagger = setTimeout(attempt, attemptDelayMs);
    };

    signal.addEventListener('abort', onAbort, { once: true });
    if (addresses.length === 0) settle(() => reject(new Error('no address to connect to')));
    else attempt();
  });
}

/** Media arrives in large pieces, so the stream buffer fits one 64 KiB read (the default since Node 22). */
function socketOptions(host: string, port: number): { host: string; port: number } {
  const options = { host, port, noDelay: true, keepAlive: true, highWaterMark: 64 * 1024 };
  return options;
}

/**
 * Alternates the families (RFC 8305 §4), starting with the first one. Keeps the resolver's
 * order within each.
 */
export function alternateFamilies(addresses: readonly string[]): string[] {
  const firstFamily = isIP(addresses[0] ?? '');
  const first = addresses.filter((address) => isIP(address) === firstFamily);
  const second = addresses.filter((address) => isIP(address) !== firstFamily);
  return first
    .flatMap((address, index) => [address, ...second.slice(index, index + 1)])
    .concat(second.slice(first.length));
}
