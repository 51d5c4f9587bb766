import { getEventListeners, once } from 'node:events';
import { createGuard } from '../dist/index.js';
import { alternateFamilies, connectFirst, ConnectTimeoutError } from '../dist/happy-eyeballs.js';
import { startServer, type TestServer } from './support/servers.js';
import { startSilentHost } from './support/silent-host.js';
import { tryConnect } from './support/try-connect.js';

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

/** Which address answers; the connection ends with that. */
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

/** Connections of this process that wait for an answer. */
const pending = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPConnectWrap').length;

describe('of several addresses', () => {
  it('the first is taken where it answers', async () => {
    expect(await answering(['127.0.0.2', silentAddress])).toBe('127.0.0.2');
  });

  it('the next joins where one does not answer, and the loser is given up', async () => {
    expect(await answering([silentAddress, '127.0.0.2'], { attemptDelayMs: 1 })).toBe('127.0.0.2');
    expect(pending()).toBe(0);
  });

  it('the next is tried at once where one refuses', async () => {
    expect(await answering(['127.0.0.4', '127.0.0.5', '127.0.0.2'])).toBe('127.0.0.2');
  });

  it('one that waits still counts when the others have refused', async () => {
    const both = answering([silentAddress, '127.0.0.4'], { attemptDelayMs: 1, timeoutMs: 50 });
    await expect(both).rejects.toBeInstanceOf(ConnectTimeoutError);
  });

  it('the first one tells why none could be reached', async () => {
    await expect(answering(['127.0.0.4', '127.0.0.5'])).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      address: '127.0.0.4',
    });
  });

  it('there must be one', async () => {
    await expect(answering([])).rejects.toThrow('no address to connect to');
  });
});

describe('a connection that does not open', () => {
  it('is given up in time', async () => {
    await expect(answering([silentAddress], { timeoutMs: 20 })).rejects.toBeInstanceOf(ConnectTimeoutError);
    expect(pending()).toBe(0);
    const guard = createGuard({ allowedPrivateSources: [silentAddress], connectTimeoutMs: 20 });
    await expect(tryConnect(guard, { host: silentAddress, port: silent.port })).rejects.toMatchObject({
      code: 'upstream_timeout',
    });
  });

  it('is given up with its job', async () => {
    const job = new AbortController();
    const connecting = answering([silentAddress], { signal: job.signal });
    const reason = new Error('client gone');
    job.abort(reason);
    await expect(connecting).rejects.toBe(reason);
    expect(pending()).toBe(0);
  });

  it('is not begun for a job that is over', async () => {
    const before = wanted.sockets.size;
    const signal = AbortSignal.abort('over');
    await expect(answering(['127.0.0.2'], { signal })).rejects.toMatchObject({ cause: 'over' });
    expect(wanted.sockets.size).toBe(before);
  });
});

it('a connection leaves nothing behind on the signal of its job', async () => {
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
