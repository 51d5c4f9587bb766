import { AllowList, parseAllowedSource } from '../dist/allow-list.js';
import { canonicalHost, hostForAuthority } from '../dist/host.js';
import { refusedRange } from '../dist/index.js';
import { AddressPolicy } from '../dist/policy.js';

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
    lookup: () => Promise.resolve(answers.map((address) => ({ address }))),
    lookupTimeoutMs: 1000,
    behindProxy,
  });

describe('what an operator permits', () => {
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

  it('is any of the entries', () => {
    const list = new AllowList(['10.0.0.0/8', 'media.intranet:8080']);
    expect(list.allows('x', '10.0.0.1', 80)).toBe(true);
    expect(list.allows('media.intranet', '192.168.0.1', 8080)).toBe(true);
    expect(list.allows('x', '192.168.0.1', 80)).toBe(false);
    expect(new AllowList([]).allows('x', '10.0.0.1', 80)).toBe(false);
  });

  it.each([
    ...['', 'host', 'host:0', 'host:65536', 'host:123456', 'host:8x', 'x host:80', 'host:80 x', 'a/b:80'],
    ...['http://host:80', '10.0.0', '10.0.0.0/33', '[fd00::g]:80', '[fd00::1]', 'host:', ':80'],
  ])('%j is refused with the forms that are understood', (entry) => {
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
    '%j is none',
    (host) => {
      const detail = 'The host in the URL is not valid. Check the URL for typing errors.';
      expect(() => canonicalHost(host)).toThrow(detail);
    },
  );

  it('is written in brackets in front of a port where it is IPv6', () => {
    expect(['video.example', '10.0.0.1', '::1'].map(hostForAuthority)).toEqual([
      'video.example',
      '10.0.0.1',
      '[::1]',
    ]);
  });
});

describe('a decision', () => {
  it('is the answers of one look-up, in their canonical spelling', async () => {
    const policy = policyWith({ answers: ['93.184.216.34', '2606:2800:0220:0001::0001'] });
    await expect(policy.check('Video.example', 443)).resolves.toEqual({
      host: 'video.example',
      port: 443,
      addresses: ['93.184.216.34', '2606:2800:220:1::1'],
    });
  });

  it('needs no look-up for an IP', async () => {
    const policy = new AddressPolicy({
      allowed: new AllowList([]),
      lookup: () => Promise.reject(new Error('asked')),
      lookupTimeoutMs: 1000,
      behindProxy: false,
    });
    await expect(policy.check('1.1.1.1', 80)).resolves.toMatchObject({ addresses: ['1.1.1.1'] });
  });

  it('names the host, the kind of network and the setting where it is no', async () => {
    await expect(policyWith({ answers: ['10.0.0.1'] }).check('video.example', 80)).rejects.toMatchObject({
      code: 'forbidden_address',
      message:
        'The URL leads to video.example, which is not on the public internet (private). Only public sites can be read; the operator of this service can allow more with ALLOWED_PRIVATE_SOURCES.',
    });
  });

  it('follows what the operator permits, for every answer', async () => {
    const allowed = ['10.0.0.0/8'];
    await policyWith({ allowed, answers: ['10.0.0.1', '1.1.1.1'] }).check('video.example', 80);
    await expect(
      policyWith({ allowed, answers: ['10.0.0.1', '192.168.0.1'] }).check('video.example', 80),
    ).rejects.toMatchObject({ code: 'forbidden_address' });
  });

  it('of a name without an answer is that it does not exist', async () => {
    await expect(policyWith({}).check('video.example', 80)).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: 'The site video.example does not exist. Check the URL.',
    });
  });

  it('is left to a proxy where only that may know the name', async () => {
    await expect(policyWith({ behindProxy: true }).check('video.example', 80)).resolves.toEqual({
      host: 'video.example',
      port: 80,
      addresses: ['video.example'],
    });
  });

  it.each([
    ...['router', 'router.', 'a.localhost', 'a.b.localhost', 'printer.local', 'printer.local.'],
    ...['db.internal', 'media.intranet', 'nas.lan', 'nas.home.arpa'],
  ])('of the local name %s is no, behind a proxy too', async (host) => {
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

  it.each(['notlocal', 'locals'].map((end) => `video.${end}`))('%s is no local name', async (host) => {
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
  expect(refusedRange(address)).toBe(kind);
});
