import { setTimeout as delay } from 'node:timers/promises';
import { type Site, startSite } from '@media-services/fault-site';
import { fixtureEngine } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';

/** The service behind a gateway that reports addresses and keys. It has two engines; a client gets one of them. */
let service: TestService;
let site: Site;
let pages = 0;

beforeAll(async () => {
  site = await startSite();
  site.on('/drip', (_req, res) => {
    res.on('error', () => undefined);
    res.writeHead(200, { 'content-type': 'text/html' }).write('<title>never ends</title>');
  });
  service = await startService(
    { ALLOWED_PRIVATE_SOURCES: site.host, ENGINE_PROCESSES: '2', TRUST_PROXY_HOPS: '1' },
    { engineScript: fixtureEngine },
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

interface Client {
  readonly address: string;
  readonly key?: string;
}

/** Opens a page as a client that the gateway reports. */
function ask({ address, key }: Client, path: string, signal: AbortSignal): Promise<Response> {
  pages += 1;
  const headers = { 'X-Forwarded-For': address, ...(key !== undefined && { 'X-Client-Name': key }) };
  return service.get('/api/info', { url: `${site.url}${path}?n=${pages}` }, { headers, signal });
}

async function engines(expected: { readonly active: number; readonly queueLength: number }): Promise<void> {
  const { engine } = service.context;
  const isReached = () => {
    const { active, queueLength } = engine.health();
    return active === expected.active && queueLength === expected.queueLength;
  };
  while (!isReached()) await delay(10);
}

/** Pages that never end. @returns a function that leaves them */
function occupy(...clients: readonly Client[]): () => Promise<void> {
  const leaving = new AbortController();
  const asked = clients.map((client) => ask(client, '/drip', leaving.signal).catch(() => undefined));
  return async () => {
    leaving.abort();
    await Promise.all(asked);
    await engines({ active: 0, queueLength: 0 });
  };
}

const network = ['2001:db9:1:1::1', '2001:db9:1:1:ffff::2', '2001:db9:1:1::3'];
const addresses = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];

describe.each<[string, readonly Client[], Client]>([
  ['three addresses of one /64', network.map((address) => ({ address })), { address: '2001:db9:1:2::1' }],
  [
    'one key at three addresses',
    addresses.map((address) => ({ address, key: 'alice' })),
    { address: '203.0.113.9', key: 'bob' },
  ],
  [
    'one of two keys at one address',
    addresses.map(() => ({ address: '203.0.113.1', key: 'alice' })),
    { address: '203.0.113.1', key: 'bob' },
  ],
])('%s', (_name, attackers, other) => {
  it('is one client, which leaves an engine for another', async () => {
    const leave = occupy(...attackers);
    await engines({ active: 1, queueLength: 2 });
    const response = await ask(other, '/watch', AbortSignal.timeout(60_000));
    expect(response.status).toBe(200);
    await leave();
  });
});

it('two clients hold both engines, until a third one waits', async () => {
  const [first = '', second = ''] = addresses;
  const leave = occupy({ address: first }, { address: second });
  await engines({ active: 2, queueLength: 0 });
  const startedAt = performance.now();
  const response = await ask({ address: '203.0.113.9' }, '/watch', AbortSignal.timeout(60_000));
  expect(response.status).toBe(200);
  // Five seconds for an engine, and the page itself on a busy machine.
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await leave();
});

it('a page in the queue moves up to the place of a client that joins it', async () => {
  const hog: Client = { address: '203.0.113.50' };
  const leave = occupy(hog, hog);
  await engines({ active: 1, queueLength: 1 });
  const url = `${site.url}/watch?shared`;
  const shared = (client: Client) =>
    service.get('/api/info', { url }, { headers: { 'X-Forwarded-For': client.address } });
  const ofHog = shared(hog);
  await engines({ active: 1, queueLength: 2 });
  expect((await shared({ address: '203.0.113.51' })).status).toBe(200);
  expect((await ofHog).status).toBe(200);
  await leave();
});
