import { networkInterfaces } from 'node:os';
import { DomainError } from '@media-services/http-common';
import { createGuard, type Guard } from '../src/index.js';
import { OwnAddresses } from '../src/own-addresses.js';

/** A public address that this machine doesn't have. */
const stranger = '93.184.216.34';
const signal = () => AbortSignal.timeout(60_000);

const checks = async (guard: Guard, url: string): Promise<string> =>
  guard.checkUrl(new URL(url), signal()).then(
    () => 'public',
    (error: unknown) => (error instanceof DomainError ? error.code : 'unknown'),
  );

describe("this machine's addresses", () => {
  const own = Object.values(networkInterfaces())
    .flat()
    .flatMap((found) => (found ? [found.address] : []));

  it('are those of every interface, in any notation, through NAT64 too', () => {
    expect(own).toContain('127.0.0.1');
    const addresses = new OwnAddresses([]);
    for (const address of own) expect(addresses.reasonFor(address)).toBe("the server's own");
    expect(addresses.reasonFor('64:ff9b::127.0.0.1')).toBe("the server's own");
    expect(addresses.reasonFor(stranger)).toBeNull();
    expect(addresses.reasonFor('2606:4700::1111')).toBeNull();
  });

  it('are rejected for a name that resolves to one, with a public one as the control', async () => {
    let answer = stranger;
    const lookup = () => Promise.resolve([{ address: answer }]);
    const blocked = createGuard({
      allowedPrivateSources: [],
      blockedSources: ['198.41.0.4', '2620:74::/32'],
      lookup,
    });
    expect(await checks(blocked, 'http://site.example/')).toBe('public');
    for (answer of ['198.41.0.4', '2620:74:1::1', '64:ff9b::198.41.0.4'])
      expect(await checks(blocked, 'http://site.example/')).toBe('forbidden_address');
    answer = '198.41.0.5';
    expect(await checks(blocked, 'http://site.example/')).toBe('public');
  });

  it('can be allowed by the operator', async () => {
    const guard = createGuard({ allowedPrivateSources: ['198.41.0.4:81'], blockedSources: ['198.41.0.4'] });
    expect(await checks(guard, 'http://198.41.0.4:81/')).toBe('public');
    expect(await checks(guard, 'http://198.41.0.4:82/')).toBe('forbidden_address');
  });

  it('names an entry of the operator that is no address', () => {
    expect(() => createGuard({ allowedPrivateSources: [], blockedSources: ['gateway'] })).toThrow(
      '"gateway"',
    );
  });
});

describe('our own API', () => {
  const guard = createGuard({ allowedPrivateSources: [] });

  it.each([
    '/api/info?url=x',
    '/api/stream?url=x',
    '/media/api/stream/video?fmt=mp4-720&url=x',
    '/video-dl/api/info?url=x',
    '/%61pi/info?%75rl=x',
    '//api//info?url=x',
    '/api/x%2f..%2finfo?url=x',
    '/api/remove-background?image_url=x',
  ])('is rejected on any host: %s', async (path) => {
    expect(await checks(guard, `http://${stranger}${path}`)).toBe('forbidden_address');
    const dispatcher = guard.createDispatcher({ signal: signal() });
    await expect(
      dispatcher.request({ origin: `http://${stranger}`, path, method: 'GET' }),
    ).rejects.toMatchObject({ code: 'forbidden_address' });
  });

  it.each([
    '/api/info',
    '/api/information?url=x',
    '/api/info/more?url=x',
    '/watch?url=/api/info',
    '/%ff/api/info?u=x',
  ])('is not taken for another page: %s', async (path) => {
    expect(await checks(guard, `http://${stranger}${path}`)).toBe('public');
  });
});
