import { createGuard, blockedRange } from '../src/index.js';
import { publicHosts, blockedHosts } from './support/addresses.js';
import { tryConnect } from './support/servers.js';

const guard = createGuard({ allowedPrivateSources: [], connectTimeoutMs: 50 });

describe('the address check', () => {
  it.each(blockedHosts)('blocks %s (%s)', async (host) => {
    await expect(guard.checkUrl(new URL(`http://${host}:8080/video`))).rejects.toMatchObject({
      name: 'DomainError',
      code: 'forbidden_address',
    });
  });

  it.each(blockedHosts)('does not connect to %s (%s)', async (host) => {
    await expect(tryConnect(guard, { host, port: 80 })).rejects.toMatchObject({ code: 'forbidden_address' });
  });

  it.each(publicHosts)('lets %s through', async (host) => {
    await guard.checkUrl(new URL(`https://${host}/video`));
  });

  it.each(['not an address', '', '999.1.1.1', '1.2.3.4.5'])('treats %j as blocked', (address) => {
    expect(blockedRange(address)).not.toBeNull();
  });

  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://user@example.com/',
    'http://:pw@example.com/',
    'data:,x',
  ])('rejects the URL %s as invalid', async (url) => {
    await expect(guard.checkUrl(new URL(url))).rejects.toMatchObject({ code: 'invalid_url' });
  });

  it.each(['a b', 'exa/mple', 'user@host', 'host:80', 'h#x', '[::1', '', '1.2.3.4.5'])(
    'rejects the host %j as invalid',
    async (host) => {
      await expect(tryConnect(guard, { host, port: 80 })).rejects.toMatchObject({ code: 'invalid_url' });
    },
  );
});

describe('names', () => {
  const guardWith = (...addresses: string[]) =>
    createGuard({
      allowedPrivateSources: [],
      lookup: () => Promise.resolve(addresses.map((address) => ({ address }))),
    });

  it('are allowed if every address is public', async () => {
    await guardWith('93.184.216.34', '2606:2800:220:1::1').checkUrl(new URL('https://video.example/'));
  });

  it.each([
    ['93.184.216.34', '10.0.0.1'],
    ['10.0.0.1', '93.184.216.34'],
    ['93.184.216.34', '::1'],
    ['93.184.216.34', 'fe80::1%eth0'],
    ['93.184.216.34', 'nonsense'],
  ])('are blocked with the mixed addresses %s and %s', async (...addresses) => {
    await expect(guardWith(...addresses).checkUrl(new URL('https://video.example/'))).rejects.toMatchObject({
      code: 'forbidden_address',
    });
  });

  it('without any address are unreachable', async () => {
    await expect(guardWith().checkUrl(new URL('https://video.example/'))).rejects.toMatchObject({
      code: 'upstream_unreachable',
    });
  });

  it.each([
    ['ENOTFOUND', 'upstream_unreachable'],
    ['EAI_AGAIN', 'upstream_unreachable'],
  ])('whose lookup fails with %s are %s', async (code, expected) => {
    const lookup = () => Promise.reject(Object.assign(new Error(code), { code }));
    const failing = createGuard({ allowedPrivateSources: [], lookup });
    await expect(failing.checkUrl(new URL('https://video.example/'))).rejects.toMatchObject({
      code: expected,
    });
  });

  it('whose lookup never ends time out', async () => {
    const stuck = createGuard({
      allowedPrivateSources: [],
      lookupTimeoutMs: 10,
      lookup: () => new Promise(() => undefined),
    });
    await expect(stuck.checkUrl(new URL('https://video.example/'))).rejects.toMatchObject({
      code: 'upstream_timeout',
    });
  });

  it('whose lookup never ends can be cancelled', async () => {
    const stuck = createGuard({ allowedPrivateSources: [], lookup: () => new Promise(() => undefined) });
    const gone = new AbortController();
    const checking = stuck.checkUrl(new URL('https://video.example/'), gone.signal);
    gone.abort(new Error('client gone'));
    await expect(checking).rejects.toThrow('client gone');
  });
});
