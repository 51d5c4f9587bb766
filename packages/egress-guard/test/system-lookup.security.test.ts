import { lookup as threadLookup } from 'node:dns/promises';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { request } from 'undici';
import { createGuard, createSystemLookup } from '../src/index.js';

let server: DnsServer;
let folder: string;
const records = {
  'good.example': ['93.184.216.34', '93.184.216.35'],
  'gone.example': 'missing',
  'media.intranet.example': ['93.184.216.36'],
  media: 'missing',
  'local.example': ['127.0.0.1'],
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
/** Queries names that get no response. */
const askFor = (count: number, signal: AbortSignal) => {
  const lookup = lookupWith();
  return Promise.allSettled(
    Array.from({ length: count }, (_, index) => lookup(`slow${index}.example`, signal)),
  );
};

it('returns every address that DNS has', async () => {
  expect(addresses(await lookupWith()('good.example'))).toEqual(records['good.example']);
});

it('rejects with ENOTFOUND a name that does not exist', async () => {
  await expect(lookupWith()('gone.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

it('prefers the hosts file to DNS', async () => {
  const hostsFile = join(folder, 'hosts');
  await writeFile(hostsFile, '# good.example\n10.0.0.7\tother.example GOOD.example # a comment\n');
  const before = server.asked.length;
  expect(addresses(await lookupWith({ hostsFile })('good.example.'))).toEqual(['10.0.0.7']);
  expect(server.asked).toHaveLength(before);
});

it('tries the search domains of the resolver file for a short name', async () => {
  const resolverFile = join(folder, 'resolv.conf');
  await writeFile(resolverFile, 'nameserver 127.0.0.1\nsearch intranet.example\noptions ndots:1\n');
  expect(addresses(await lookupWith({ resolverFile })('media'))).toEqual(['93.184.216.36']);
});

it('resolves localhost to this machine without a query', async () => {
  expect(addresses(await lookupWith()('page.localhost'))).toEqual(['127.0.0.1', '::1']);
});

it('cancels its queries when the signal aborts', async () => {
  const ended = new AbortController();
  const asking = askFor(1, ended.signal);
  while (!server.asked.includes('slow0.example')) await delay(5);
  ended.abort();
  expect(await asking).toMatchObject([{ status: 'rejected', reason: { code: 'ECANCELLED' } }]);
});

it("keeps the process's threads free while 64 names never resolve", async () => {
  const ended = new AbortController();
  let isOver = false;
  const asking = askFor(64, ended.signal).finally(() => (isOver = true));
  await readFile(new URL(import.meta.url));
  await threadLookup('localhost');
  expect(addresses(await lookupWith()('good.example'))).toHaveLength(2);
  expect(isOver).toBe(false);
  ended.abort();
  await asking;
});

describe('16 names of one client that never resolve', () => {
  const greedy = async () => {
    const ended = new AbortController();
    const guard = createGuard({ allowedPrivateSources: ['127.0.0.1/32'], lookup: lookupWith() });
    const before = server.asked.length;
    const asking = Promise.allSettled(
      Array.from({ length: 16 }, (_, index) =>
        guard.checkUrl(new URL(`http://slow${index}.example/`), ended.signal, 'greedy'),
      ),
    );
    // Both families of each.
    while (server.asked.length < before + 32) await delay(5);
    const end = async () => {
      ended.abort();
      await asking;
    };
    return { guard, end };
  };
  const good = new URL('http://good.example/');

  it("make that client's next lookup wait, and no other client's", async () => {
    const { guard, end } = await greedy();
    const settled: string[] = [];
    const waiting = guard.checkUrl(good, undefined, 'greedy').then(() => settled.push('greedy'));
    await guard.checkUrl(good, undefined, 'other').then(() => settled.push('other'));
    expect(settled).toEqual(['other']);
    await end();
    await waiting;
    expect(settled).toEqual(['other', 'greedy']);
  });

  it("make that client's media connections wait, and no other client's", async () => {
    const { guard, end } = await greedy();
    const ended = new AbortController();
    const settled: string[] = [];
    const fetchAs = async (client: string) => {
      const dispatcher = guard.createDispatcher({ signal: ended.signal, client });
      // Nothing listens there.
      await request('http://local.example:1/', { dispatcher }).catch(() => settled.push(client));
    };
    const waiting = fetchAs('greedy');
    await fetchAs('other');
    expect(settled).toEqual(['other']);
    await end();
    await waiting;
    ended.abort();
  });

  it('let the client cancel what waits', async () => {
    const { guard, end } = await greedy();
    const ended = new AbortController();
    const waiting = guard.checkUrl(good, ended.signal, 'greedy');
    ended.abort(new Error('client gone'));
    await expect(waiting).rejects.toThrow('client gone');
    await end();
    await guard.checkUrl(good, undefined, 'greedy');
  });
});

/** What a name resolves to; a name without an entry gets no response. */
type Records = Readonly<Record<string, readonly string[] | 'missing'>>;

interface DnsServer extends AsyncDisposable {
  /** `ip:port` */
  readonly address: string;
  /** Queried names, in order. */
  readonly asked: readonly string[];
}

/** A DNS server on loopback (RFC 1035) that serves IPv4 addresses. */
async function startDnsServer(records: Records): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const isIpv4 = question.readUInt16BE(at + 1) === 1;
    asked.push(name);
    const found = records[name];
    if (found === undefined) return;
    const answers = found !== 'missing' && isIpv4 ? found : [];
    const head = Buffer.from(question.subarray(0, at + 5));
    head.writeUInt16BE(found === 'missing' ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    const lines = answers.map((address) => {
      const fixed = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
      return Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))]);
    });
    socket.send(Buffer.concat([head, ...lines]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
