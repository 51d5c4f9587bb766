import { getEventListeners, once } from 'node:events';
import { createGuard } from '../src/index.js';
import { alternateFamilies, connectFirst, ConnectTimeoutError } from '../src/happy-eyeballs.js';
import { startServer, startSilentHost, type TestServer, tryConnect } from './support/servers.js';

const silentAddress = '127.0.0.3';
let silent: Awaited<ReturnType<typeof startSilentHost>>;
let wanted: TestServer;

beforeAll(async () => {
  silent = await startSilentHost(silentAddress);
  wanted = await startServer((_request, response) => response.end('wanted'), '127.0.0.2', silent.port);
});
afterAll(async () => {
  await wanted[Symbol.asyncDispose]();
  await silent[Symbol.asyncDispose]();
});

/** Returns the address that was connected to, and closes the connection. */
async function answering(
  addresses: readonly string[],
  race: Partial<Parameters<typeof connectFirst>[2]> = {},
) {
  const options = { signal: undefined, timeoutMs: 30_000, attemptDelayMs: 30_000, ...race };
  const socket = await connectFirst(addresses, silent.port, options);
  const { remoteAddress } = socket;
  socket.destroy();
  await once(socket, 'close');
  return remoteAddress;
}

/** Pending connections of this process. */
const pending = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPConnectWrap').length;

describe('of several addresses', () => {
  it('the first is used if it responds', async () => {
    expect(await answering(['127.0.0.2', silentAddress])).toBe('127.0.0.2');
  });

  it('the next is tried when one does not respond, and the loser is abandoned', async () => {
    expect(await answering([silentAddress, '127.0.0.2'], { attemptDelayMs: 1 })).toBe('127.0.0.2');
    expect(pending()).toBe(0);
  });

  it('the next is tried at once when one refuses the connection', async () => {
    expect(await answering(['127.0.0.4', '127.0.0.5', '127.0.0.2'])).toBe('127.0.0.2');
  });

  it('a pending one still counts after the others refused the connection', async () => {
    const both = answering([silentAddress, '127.0.0.4'], { attemptDelayMs: 1, timeoutMs: 50 });
    await expect(both).rejects.toBeInstanceOf(ConnectTimeoutError);
  });

  it('the first error is reported when all fail', async () => {
    await expect(answering(['127.0.0.4', '127.0.0.5'])).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      address: '127.0.0.4',
    });
  });

  it('at least one is required', async () => {
    await expect(answering([])).rejects.toThrow('no address to connect to');
  });
});

describe('a connection that does not open', () => {
  it('times out', async () => {
    await expect(answering([silentAddress], { timeoutMs: 20 })).rejects.toBeInstanceOf(ConnectTimeoutError);
    expect(pending()).toBe(0);
    const guard = createGuard({ allowedPrivateSources: [silentAddress], connectTimeoutMs: 20 });
    await expect(tryConnect(guard, { host: silentAddress, port: silent.port })).rejects.toMatchObject({
      code: 'upstream_timeout',
    });
  });

  it('is cancelled with its job', async () => {
    const job = new AbortController();
    const connecting = answering([silentAddress], { signal: job.signal });
    const reason = new Error('client gone');
    job.abort(reason);
    await expect(connecting).rejects.toBe(reason);
    expect(pending()).toBe(0);
  });

  it('is not started for a job that has ended', async () => {
    const before = wanted.sockets.size;
    const signal = AbortSignal.abort('over');
    await expect(answering(['127.0.0.2'], { signal })).rejects.toMatchObject({ cause: 'over' });
    expect(wanted.sockets.size).toBe(before);
  });
});

it("a connection leaves no listener on its job's signal", async () => {
  const { signal } = new AbortController();
  await answering(['127.0.0.2'], { signal });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it.each([
  [[], []],
  [
    ['1.1.1.1', '2.2.2.2'],
    ['1.1.1.1', '2.2.2.2'],
  ],
  [
    ['1.1.1.1', '2.2.2.2', '3.3.3.3', '::1', '::2'],
    ['1.1.1.1', '::1', '2.2.2.2', '::2', '3.3.3.3'],
  ],
  [
    ['::1', '1.1.1.1', '2.2.2.2', '3.3.3.3'],
    ['::1', '1.1.1.1', '2.2.2.2', '3.3.3.3'],
  ],
  [
    ['::1', '::2', '1.1.1.1'],
    ['::1', '1.1.1.1', '::2'],
  ],
])('the families of %j alternate', (addresses, expected) => {
  expect(alternateFamilies(addresses)).toEqual(expected);
});
