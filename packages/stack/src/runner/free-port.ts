import { randomInt } from 'node:crypto';
import { listenFailure } from '@media-services/stack/set-up';

/** Another program listens on the port. */
export class PortInUseError extends Error {
  override name = 'PortInUseError';
}

const mostPortsTried = 10;

/**
 * Has a program that can't choose a free port itself listen on one: calls `open` with a port that
 * seems free, and with another one if it rejects with a PortInUseError, because another program may
 * take a port between our look and its use. The ports are below the ephemeral range, so that the
 * system doesn't give them to outgoing connections.
 */
export async function onFreePort<Result>(
  open: (port: number) => Promise<Result>,
  host = '127.0.0.1',
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    const port = randomInt(20_000, 30_000);
    try {
      const failure = await listenFailure(port, host);
      if (failure === 'EADDRINUSE') throw new PortInUseError(`${host}:${port} is in use.`);
      if (failure !== undefined) throw new Error(`Cannot listen on ${host}:${port} (${failure}).`);
      return await open(port);
    } catch (error) {
      if (!(error instanceof PortInUseError) || tried === mostPortsTried) throw error;
    }
  }
}
