import { createServer } from 'node:net';
import { systemErrorCode, UserError } from './user-error.mjs';

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

/** Where the gateway listens. */
export function gatewayAddress(env = process.env) {
  const text = env.PORT?.trim() || '8080';
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return { port, host: env.HOST || '127.0.0.1' };
  throw new UserError(
    `PORT is ${JSON.stringify(text)}; it must be a port number from 1 to 65535, for example PORT=8090.`,
  );
}

/**
 * @throws {UserError} naming the setting and the fix if the gateway's port is not available
 * @param {{ port: number, host: string }} address
 */
export async function checkGatewayPort({ port, host }) {
  const failure = await listenFailure(port, host);
  if (failure === undefined) return;
  const advice = 'choose another with PORT, for example: PORT=8090 npm start';
  if (failure === 'EADDRINUSE')
    throw new UserError(`Port ${port} is in use by another program. Stop that program, or ${advice}`);
  if (failure === 'EACCES')
    throw new UserError(`Port ${port} may only be used by root. Use a port above 1023: ${advice}`);
  throw new UserError(`Cannot listen on ${host}:${port} (${failure}). Check HOST, or ${advice}`);
}
