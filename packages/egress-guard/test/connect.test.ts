import { once } from 'node:events';
import { request } from 'undici';
import { createGuard, type Guard } from '../dist/index.js';
import { startServer, type TestServer } from './support/servers.js';
import { tryConnect } from './support/try-connect.js';

const guards: AbortController[] = [];

function guardFor(allowed: string[], answers?: string[][]): { guard: Guard; lookups: () => number } {
  let lookups = 0;
  const guard = createGuard({
    allowedPrivateSources: allowed,
    connectTimeoutMs: 2_000,
    ...(answers && {
      lookup: () => {
        const answer = answers[Math.min(lookups++, answers.length - 1)] ?? [];
        return Promise.resolve(answer.map((address) => ({ address })));
      },
    }),
  });
  return { guard, lookups: () => lookups };
}

async function get(guard: Guard, url: string): Promise<string> {
  const gone = new AbortController();
  guards.push(gone);
  const { body } = await request(url, { dispatcher: guard.createDispatcher({ signal: gone.signal }) });
  return body.text();
}

describe('the guarded connector', () => {
  let wanted: TestServer;
  let victim: TestServer;

  beforeEach(async () => {
    wanted = await startServer((_request, response) => response.end('wanted'), '127.0.0.2');
    victim = await startServer((_request, response) => response.end('secret'), '127.0.0.1');
  });
  afterEach(async () => {
    for (const gone of guards.splice(0)) gone.abort();
    await wanted[Symbol.asyncDispose]();
    await victim[Symbol.asyncDispose]();
  });

  it('connects to the address it checked although the name answers differently the second time', async () => {
    const { guard, lookups } = guardFor(['127.0.0.2'], [['127.0.0.2'], ['127.0.0.1']]);
    expect(await get(guard, `http://rebinding.example:${wanted.port}/`)).toBe('wanted');
    expect(lookups()).toBe(1);
  });

  it('checks again for every new connection: an earlier good answer blesses nothing', async () => {
    const { guard } = guardFor(['127.0.0.2'], [['127.0.0.2'], ['127.0.0.1']]);
    await guard.checkUrl(new URL(`http://rebinding.example:${victim.port}/`));
    await expect(get(guard, `http://rebinding.example:${victim.port}/`)).rejects.toMatchObject({
      code: 'forbidden_address',
    });
    expect(victim.sockets.size).toBe(0);
  });

  it('goes on to the next address when the first refuses', async () => {
    const { guard } = guardFor(['127.0.0.0/8'], [['127.0.0.3', '127.0.0.2']]);
    expect(await get(guard, `http://two.example:${wanted.port}/`)).toBe('wanted');
  });

  it('reports a refused connection as unreachable', async () => {
    const closed = await startServer(() => undefined);
    await closed[Symbol.asyncDispose]();
    const { guard } = guardFor(['127.0.0.1']);
    await expect(tryConnect(guard, { host: '127.0.0.1', port: closed.port })).rejects.toMatchObject({
      code: 'upstream_unreachable',
    });
  });

  it('does not start when the caller is gone already', async () => {
    const { guard } = guardFor(['127.0.0.1']);
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(tryConnect(guard, { host: '127.0.0.1', port: victim.port, signal })).rejects.toThrow('gone');
    expect(victim.sockets.size).toBe(0);
  });

  it('ends its idle connections with their owner', async () => {
    const { guard } = guardFor(['127.0.0.2']);
    const owner = new AbortController();
    const { body } = await request(wanted.url, {
      dispatcher: guard.createDispatcher({ signal: owner.signal }),
    });
    await body.text();
    const [socket] = wanted.sockets;
    if (!socket) throw new Error('the connection is not kept alive');
    owner.abort();
    await once(socket, 'close');
  });
});

describe('ALLOWED_PRIVATE_SOURCES', () => {
  it.each([
    ['10.0.0.0/8', 'http://10.1.2.3:99/'],
    ['10.1.2.3', 'http://10.1.2.3/'],
    ['10.1.2.3:8080', 'http://10.1.2.3:8080/'],
    ['::1/128', 'http://[::1]/'],
    ['[::1]:80', 'http://[::1]/'],
    ['fd00::/8', 'https://[fd12::1]/'],
    ['localhost:8080', 'http://localhost:8080/'],
    ['127.0.0.1:8080', 'http://2130706433:8080/'],
  ])('%s opens %s', async (entry, url) => {
    await createGuard({
      allowedPrivateSources: [entry],
      lookup: () => Promise.resolve([{ address: '127.0.0.1' }]),
    }).checkUrl(new URL(url));
  });

  it.each([
    ['10.0.0.0/8', 'http://11.0.0.1.nip.example/', '172.16.0.1'],
    ['10.1.2.3:8080', 'http://10.1.2.3:8081/', ''],
    ['localhost:8080', 'http://localhost:8081/', '127.0.0.1'],
    ['localhost:8080', 'http://127.0.0.1:8080/', ''],
    ['0.0.0.0/0', 'http://[::1]/', ''],
  ])('%s does not open %s', async (entry, url, answer) => {
    const guard = createGuard({
      allowedPrivateSources: [entry],
      lookup: () => Promise.resolve([{ address: answer }]),
    });
    await expect(guard.checkUrl(new URL(url))).rejects.toMatchObject({ code: 'forbidden_address' });
  });

  it.each(['', '10.0.0.0/33', 'host', 'host:0', 'host:70000', 'http://host:80', '10.0.0', 'a b:80'])(
    'rejects the entry %j and says what is understood',
    (entry) => {
      expect(() => createGuard({ allowedPrivateSources: [entry] })).toThrow(/host:port/);
    },
  );
});
