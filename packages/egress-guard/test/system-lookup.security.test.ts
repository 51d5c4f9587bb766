import { lookup as threadLookup } from 'node:dns/promises';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createGuard, createSystemLookup } from '../dist/index.js';
import { startDnsServer, type DnsServer } from './support/dns-server.js';

let server: DnsServer;
let folder: string;
const records = {
  'good.example': ['93.184.216.34', '93.184.216.35'],
  'gone.example': 'missing',
  'media.intranet.example': ['93.184.216.36'],
  media: 'missing',
} as const;

beforeAll(async () => {
  server = await startDnsServer(records);
  folder = await mkdtemp(join(tmpdir(), 'lookup-'));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const lookupWith = (options: { hostsFile?: string; resolverFile?: string } = {}) =>
  createSystemLookup({
    servers: [server.address],
    hostsFile: '/nowhere',
    resolverFile: '/nowhere',
    ...options,
  });
const addresses = (answers: readonly { address: string }[]) => answers.map(({ address }) => address);
/** Asks DNS for names that get no response. */
const askFor = (count: number, signal: AbortSignal) => {
  const lookup = lookupWith();
  return Promise.allSettled(
    Array.from({ length: count }, (_, index) => lookup(`slow${index}.example`, signal)),
  );
};

it('has every address that DNS knows', async () => {
  expect(addresses(await lookupWith()('good.example'))).toEqual(records['good.example']);
});

it('rejects with ENOTFOUND a name that does not exist', async () => {
  await expect(lookupWith()('gone.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

it('believes the hosts file before DNS', async () => {
  const hostsFile = join(folder, 'hosts');
  await writeFile(hostsFile, '# good.example\n10.0.0.7\tother.example GOOD.example # a comment\n');
  const before = server.asked.length;
  expect(addresses(await lookupWith({ hostsFile })('good.example.'))).toEqual(['10.0.0.7']);
  expect(server.asked).toHaveLength(before);
});

it('searches the domains of the resolver file for a short name', async () => {
  const resolverFile = join(folder, 'resolv.conf');
  await writeFile(resolverFile, 'nameserver 127.0.0.1\nsearch intranet.example\noptions ndots:1\n');
  expect(addresses(await lookupWith({ resolverFile })('media'))).toEqual(['93.184.216.36']);
});

it('takes localhost for this machine without asking', async () => {
  expect(addresses(await lookupWith()('page.localhost'))).toEqual(['127.0.0.1', '::1']);
});

it('stops asking when the signal aborts', async () => {
  const ended = new AbortController();
  const asking = askFor(1, ended.signal);
  while (!server.asked.includes('slow0.example')) await delay(5);
  ended.abort();
  expect(await asking).toMatchObject([{ status: 'rejected', reason: { code: 'ECANCELLED' } }]);
});

it('leaves the threads of the process to others while 64 names never resolve', async () => {
  const ended = new AbortController();
  const asking = askFor(64, ended.signal);
  const start = performance.now();
  await readFile(new URL(import.meta.url));
  await threadLookup('localhost');
  expect(addresses(await lookupWith()('good.example'))).toHaveLength(2);
  expect(performance.now() - start).toBeLessThan(5_000);
  ended.abort();
  await asking;
});

it('rejects a client with more than 16 look-ups under way, and no other client', async () => {
  const ended = new AbortController();
  const guard = createGuard({ allowedPrivateSources: [], lookup: lookupWith() });
  const check = (name: string, client: string, signal?: AbortSignal) =>
    guard.checkUrl(new URL(`http://${name}/`), signal, client);
  const asking = Promise.allSettled(
    Array.from({ length: 16 }, (_, index) => check(`slow${index}.example`, 'greedy', ended.signal)),
  );
  await expect(check('good.example', 'greedy')).rejects.toMatchObject({ code: 'overloaded' });
  await check('good.example', 'other');
  ended.abort();
  await asking;
  await check('good.example', 'greedy');
});
