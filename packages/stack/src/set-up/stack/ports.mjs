import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { systemErrorCode, UserError } from '../user-error.mjs';

/**
 * Checks whether we can listen on an address. Returns undefined or the error code
 * (`EADDRINUSE`, `EACCES`, …).
 * @param {number} port
 * @param {string} host
 * @returns {Promise<string | undefined>}
 */
export function listenFailure(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(systemErrorCode(error) ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Another program listens on the port. */
export class PortInUseError extends Error {
  /** @override */
  name = 'PortInUseError';
}

const mostPortsTried = 10;

/**
 * Has a program that can't choose a free port itself listen on one: calls `open` with a port that
 * seems free, and with another one if it rejects with a PortInUseError, because another program may
 * take a port between our look and its use. The ports are below the ephemeral range, so that the
 * system doesn't give them to outgoing connections.
 * @template Result
 * @param {(port: number) => Promise<Result>} open
 */
export async function onFreePort(open, host = '127.0.0.1') {
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

/**
 * Reads a port from an environment variable.
 * @template {number | undefined} Fallback
 * @param {NodeJS.ProcessEnv} env
 * @param {string} name
 * @param {Fallback} fallback the value if the variable is not set
 */
export function portFrom(env, name, fallback) {
  const text = env[name]?.trim();
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new UserError(
      `${name} is ${JSON.stringify(text)}; it must be a port number from 1 to 65535, for example ${name}=8090.`,
    );
  }
  return port;
}

/**
 * @throws {UserError} naming the setting and the fix if the gateway's port is not available
 * @param {number} port
 * @param {string} host
 */
export async function checkGatewayPort(port, host) {
  const failure = await listenFailure(port, host);
  if (failure === undefined) return;
  const advice = 'choose another with PORT, for example: PORT=8090 npm start';
  if (failure === 'EADDRINUSE') {
    throw new UserError(`Port ${port} is in use by another program. Stop that program, or ${advice}`);
  }
  if (failure === 'EACCES') {
    throw new UserError(`Port ${port} may only be used by root. Use a port above 1023: ${advice}`);
  }
  throw new UserError(`Cannot listen on ${host}:${port} (${failure}). Check HOST, or ${advice}`);
}
