import { getEventListeners } from 'node:events';
import { DomainError } from '@media-services/http-common';
import { resolveName } from '../dist/resolve.js';
import type { LookupFn } from '../dist/system-lookup.js';

const never = () => new Promise<never>(() => undefined);
const resolved = (
  lookup: LookupFn,
  { timeoutMs = 30_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
) => resolveName('video.example', { lookup, timeoutMs, signal });
const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('a name', () => {
  it('has all the addresses of the answer, in its order', async () => {
    const asked: string[] = [];
    const lookup: LookupFn = (name) => {
      asked.push(name);
      return Promise.resolve([{ address: '::1' }, { address: '10.0.0.1' }]);
    };
    expect(await resolved(lookup)).toEqual(['::1', '10.0.0.1']);
    expect(asked).toEqual(['video.example']);
  });

  it.each(['ENOTFOUND', 'ENODATA'])('has none where the resolver says %s', async (code) => {
    expect(await resolved(failing(code))).toEqual([]);
  });

  it('is unreachable where the resolver does not work, with the cause for the log', async () => {
    await expect(resolved(failing('EAI_AGAIN'))).rejects.toMatchObject({
      code: 'upstream_unreachable',
      cause: { code: 'EAI_AGAIN' },
    });
    await expect(resolved(() => Promise.reject(new Error('x')))).rejects.toMatchObject({
      code: 'upstream_unreachable',
    });
  });

  it('keeps a failure that says more', async () => {
    const failure = new DomainError('forbidden_address', 'Not there.');
    await expect(resolved(() => Promise.reject(failure))).rejects.toBe(failure);
  });

  it('that takes too long is given up', async () => {
    await expect(resolved(never, { timeoutMs: 1 })).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it('is given up with its job, for the reason of that', async () => {
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
