import { getEventListeners } from 'node:events';
import { DomainError } from '@media-services/http-common';
import { AllowList, parseAllowedSource } from '../src/allow-list.js';
import { canonicalHost, hostForAuthority } from '../src/host.js';
import { blockedRange } from '../src/index.js';
import { OwnAddresses } from '../src/own-addresses.js';
import { AddressPolicy, resolveName } from '../src/policy.js';
import type { LookupFn } from '../src/system-lookup.js';

const policyWith = ({
  allowed = [],
  answers = [],
  behindProxy = false,
}: {
  allowed?: string[];
  answers?: string[];
  behindProxy?: boolean;
}) =>
  new AddressPolicy({
    allowed: new AllowList(allowed),
    own: new OwnAddresses([]),
    lookup: () => Promise.resolve(answers.map((address) => ({ address }))),
    lookupTimeoutMs: 60_000,
    behindProxy,
  });

describe('an allowed private source', () => {
  it.each<[entry: string, host: string, address: string | null, port: number, isAllowed: boolean]>([
    ['10.1.0.0/16', 'media.intranet', '10.1.255.255', 80, true],
    ['10.1.0.0/16', 'media.intranet', '10.2.0.0', 80, false],
    ['10.1.0.0/16', 'media.intranet', 'fd00::1', 80, false],
    ['10.1.0.0/16', 'media.intranet', null, 80, false],
    ['fd00::/8', 'media.intranet', 'fd12::1', 80, true],
    ['10.1.2.3', 'media.intranet', '10.1.2.3', 65_535, true],
    ['10.1.2.3', 'media.intranet', '10.1.2.4', 80, false],
    ['10.1.2.3', '10.1.2.3', null, 80, false],
    ['FD00:0::1', 'media.intranet', 'fd00::1', 80, true],
    ['media.intranet:8080', 'media.intranet', '10.9.9.9', 8080, true],
    ['media.intranet:8080', 'media.intranet', null, 8080, true],
    ['media.intranet:8080', 'media.intranet', '10.9.9.9', 8081, false],
    ['media.intranet:8080', 'other.intranet', '10.9.9.9', 8080, false],
    ['MEDIA.intranet:8080', 'media.intranet', null, 8080, true],
    ['127.0.0.1:9000', 'localhost', '127.0.0.1', 9000, true],
    ['127.0.0.1:9000', 'localhost', '127.0.0.1', 9001, false],
    ['[fd00::1]:8080', 'media.intranet', 'fd00::1', 8080, true],
    ['[fd00::1]:8080', 'media.intranet', 'fd00::2', 8080, false],
    ['host:1', 'host', null, 1, true],
    ['host:65535', 'host', null, 65_535, true],
  ])('%s: %s at %s, port %d: %p', (entry, host, address, port, isAllowed) => {
    expect(new AllowList([entry]).allows(host, address, port)).toBe(isAllowed);
  });

  it('may match any of the entries', () => {
    const list = new AllowList(['10.0.0.0/8', 'media.intranet:8080']);
    expect(list.allows('x', '10.0.0.1', 80)).toBe(true);
    expect(list.allows('media.intranet', '192.168.0.1', 8080)).toBe(true);
    expect(list.allows('x', '192.168.0.1', 80)).toBe(false);
    expect(new AllowList([]).allows('x', '10.0.0.1', 80)).toBe(false);
  });

  it.each([
    ...['', 'host', 'host:0', 'host:65536', 'host:123456', 'host:8x', 'x host:80', 'host:80 x', 'a/b:80'],
    ...['http://host:80', '10.0.0', '10.0.0.0/33', '[fd00::g]:80', '[fd00::1]', 'host:', ':80'],
  ])('%j is rejected with the supported formats', (entry) => {
    expect(() => parseAllowedSource(entry)).toThrow(
      `"${entry}" is not an allowed private source; write a CIDR (10.0.0.0/8) or host:port (media.intranet:8080)`,
    );
  });
});

describe('a host', () => {
  it.each([
    ['video.example', 'name', 'video.example'],
    ['VIDEO.Example', 'name', 'video.example'],
    ['bücher.example', 'name', 'xn--bcher-kva.example'],
    ['0x7f.1', 'address', '127.0.0.1'],
    ['2130706433', 'address', '127.0.0.1'],
    ['0177.0.0.1', 'address', '127.0.0.1'],
    ['::1', 'address', '::1'],
    ['[::1]', 'address', '::1'],
    ['[2001:DB8:0::1]', 'address', '2001:db8::1'],
    ['fe80::1%eth0', 'address', 'fe80::1'],
    ['[fe80::1%25eth0]', 'address', 'fe80::1'],
  ])('%s is the %s %s', (host, kind, value) => {
    expect(canonicalHost(host)).toEqual({ kind, value });
  });

  it.each(['', 'a b', 'a/b', 'a?b', 'a#b', 'a@b', 'a\\b', 'a:80', '[::1', '::1]', '[video.example]'])(
    '%j is invalid',
    (host) => {
      const detail = 'The host in the URL is not valid. Check the URL for typing errors.';
      expect(() => canonicalHost(host)).toThrow(detail);
    },
  );

  it('has brackets before a port if it is IPv6', () => {
    expect(['video.example', '10.0.0.1', '::1'].map(hostForAuthority)).toEqual([
      'video.example',
      '10.0.0.1',
      '[::1]',
    ]);
  });
});

describe('a decision', () => {
  it('returns the addresses of one lookup in canonical form', async () => {
    const policy = policyWith({ answers: ['93.184.216.34', '2606:2800:0220:0001::0001'] });
    await expect(policy.check('Video.example', 443)).resolves.toEqual({
      host: 'video.example',
      port: 443,
      addresses: ['93.184.216.34', '2606:2800:220:1::1'],
    });
  });

  it('needs no lookup for an IP address', async () => {
    const policy = new AddressPolicy({
      allowed: new AllowList([]),
      own: new OwnAddresses([]),
      lookup: () => Promise.reject(new Error('asked')),
      lookupTimeoutMs: 60_000,
      behindProxy: false,
    });
    await expect(policy.check('1.1.1.1', 80)).resolves.toMatchObject({ addresses: ['1.1.1.1'] });
  });

  it('names the host, the kind of network and the setting when it rejects', async () => {
    await expect(policyWith({ answers: ['10.0.0.1'] }).check('video.example', 80)).rejects.toMatchObject({
      code: 'forbidden_address',
      message:
        'The URL leads to video.example, which is not on the public internet (private). Only public sites are allowed; the operator of this service can allow others with ALLOWED_PRIVATE_SOURCES.',
    });
  });

  it('applies the allow list to every address', async () => {
    const allowed = ['10.0.0.0/8'];
    await policyWith({ allowed, answers: ['10.0.0.1', '1.1.1.1'] }).check('video.example', 80);
    await expect(
      policyWith({ allowed, answers: ['10.0.0.1', '192.168.0.1'] }).check('video.example', 80),
    ).rejects.toMatchObject({ code: 'forbidden_address' });
  });

  it('reports a name without addresses as nonexistent', async () => {
    await expect(policyWith({}).check('video.example', 80)).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: 'The site video.example does not exist. Check the URL.',
    });
  });

  it('is left to a proxy if only the proxy may know the name', async () => {
    await expect(policyWith({ behindProxy: true }).check('video.example', 80)).resolves.toEqual({
      host: 'video.example',
      port: 80,
      addresses: ['video.example'],
    });
  });

  it.each([
    ...['router', 'router.', 'a.localhost', 'a.b.localhost', 'printer.local', 'printer.local.'],
    ...['db.internal', 'media.intranet', 'nas.lan', 'nas.home.arpa'],
  ])('rejects the local name %s, even behind a proxy', async (host) => {
    await expect(policyWith({ behindProxy: true }).check(host, 80)).rejects.toMatchObject({
      code: 'forbidden_address',
      message: expect.stringContaining('(local name)') as string,
    });
    const allowed = [`${host}:80`];
    await expect(policyWith({ behindProxy: true, allowed }).check(host, 80)).resolves.toMatchObject({ host });
    await expect(policyWith({ behindProxy: true, allowed }).check(host, 81)).rejects.toMatchObject({
      code: 'forbidden_address',
    });
  });

  it("doesn't tell which local names exist", async () => {
    const errorFor = (answers: string[]) =>
      policyWith({ answers })
        .check('db.internal', 5432)
        .then(
          () => 'allowed',
          (error: unknown) => (error instanceof DomainError ? [error.code, error.message] : error),
        );
    expect(await errorFor([])).toEqual(await errorFor(['10.0.0.7']));
  });

  it.each(['notlocal', 'locals'].map((end) => `video.${end}`))('%s is not a local name', async (host) => {
    await expect(policyWith({ behindProxy: true }).check(host, 80)).resolves.toMatchObject({ host });
  });
});

it.each([
  ['not an address', 'unreadable'],
  ['4000::1', 'reserved'],
  ['10.0.0.1', 'private'],
  ['2606:4700::1111', null],
  ['1.1.1.1', null],
])('%s is %p', (address, kind) => {
  expect(blockedRange(address)).toBe(kind);
});

const never = () => new Promise<never>(() => undefined);
const resolved = (
  lookup: LookupFn,
  { timeoutMs = 30_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
) => resolveName('video.example', { lookup, timeoutMs, signal });
const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('a name', () => {
  it('resolves to all addresses in their original order', async () => {
    const asked: string[] = [];
    const lookup: LookupFn = (name) => {
      asked.push(name);
      return Promise.resolve([{ address: '::1' }, { address: '10.0.0.1' }]);
    };
    expect(await resolved(lookup)).toEqual(['::1', '10.0.0.1']);
    expect(asked).toEqual(['video.example']);
  });

  it.each(['ENOTFOUND', 'ENODATA'])('resolves to nothing if the resolver reports %s', async (code) => {
    expect(await resolved(failing(code))).toEqual([]);
  });

  it('is unreachable if the resolver fails, with the cause for the log', async () => {
    await expect(resolved(failing('EAI_AGAIN'))).rejects.toMatchObject({
      code: 'upstream_unreachable',
      cause: { code: 'EAI_AGAIN' },
    });
    await expect(resolved(() => Promise.reject(new Error('x')))).rejects.toMatchObject({
      code: 'upstream_unreachable',
    });
  });

  it('keeps a more specific failure', async () => {
    const failure = new DomainError('forbidden_address', 'Not there.');
    await expect(resolved(() => Promise.reject(failure))).rejects.toBe(failure);
  });

  it('that takes too long times out', async () => {
    await expect(resolved(never, { timeoutMs: 1 })).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it("is cancelled with its job, with the job's reason", async () => {
    const job = new AbortController();
    const reason = new Error('client gone');
    const looking = resolved(never, { signal: job.signal });
    job.abort(reason);
    await expect(looking).rejects.toBe(reason);
    const over = resolved(() => Promise.resolve([{ address: '::1' }]), { signal: job.signal });
    await expect(over).rejects.toBe(reason);
  });

  it('leaves no timer and no listener behind', async () => {
    const before = timers();
    const { signal } = new AbortController();
    await resolved(() => Promise.resolve([]), { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(timers()).toBe(before);
  });
});
