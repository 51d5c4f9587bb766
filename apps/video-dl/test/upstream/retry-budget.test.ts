import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@media-services/http-common';
import { RetryBudget } from '../../dist/upstream/retry-budget.js';
import { defaultLimits } from '../../dist/upstream/transfer-context.js';
import { TransferFault, type Remedy } from '../../dist/upstream/transfer-fault.js';

const enough = 16 * 1024;
const fault = (remedy: Remedy = 'retry', retryAfterMs = 0) =>
  new TransferFault(new DomainError('upstream_error', 'It broke off.'), remedy, retryAfterMs);
const budgetWith = (limits: Partial<typeof defaultLimits> = {}) =>
  new RetryBudget({ ...defaultLimits, retryDelayMs: 0, maxRetryDelayMs: 0, maxAttempts: 3, ...limits });
const { signal } = new AbortController();

describe('the repetitions of a transfer', () => {
  it('end when as many attempts in a row as there are have failed', async () => {
    const budget = budgetWith();
    const last = fault();
    await budget.spend(fault(), signal);
    await budget.spend(fault(), signal);
    await expect(budget.spend(last, signal)).rejects.toBe(last);
  });

  it('begin again after progress', async () => {
    const budget = budgetWith();
    for (let round = 0; round < 5; round += 1) {
      await budget.spend(fault(), signal);
      await budget.spend(fault(), signal);
      budget.received(enough - 1);
      budget.received(1);
    }
  });

  it('are not won back byte by byte, nor by what came before the last fault', async () => {
    const budget = budgetWith();
    budget.received(enough);
    await budget.spend(fault(), signal);
    budget.received(enough - 1);
    await budget.spend(fault(), signal);
    budget.received(enough - 1);
    await expect(budget.spend(fault(), signal)).rejects.toThrow('broke off');
  });

  it('are a thousand at most, whatever the progress', async () => {
    const budget = budgetWith();
    for (let count = 1; count < 1000; count += 1) {
      await budget.spend(fault(), signal);
      budget.received(enough);
    }
    await expect(budget.spend(fault(), signal)).rejects.toThrow('broke off');
  });

  it('are none where nothing helps', async () => {
    const hopeless = fault('none');
    await expect(budgetWith().spend(hopeless, signal)).rejects.toBe(hopeless);
  });

  it('with a new URL are one without progress, and one more after it', async () => {
    const budget = budgetWith();
    await budget.spend(fault('renew'), signal);
    await budget.spend(fault('retry'), signal);
    budget.received(enough);
    await budget.spend(fault('renew'), signal);
    await expect(budget.spend(fault('renew'), signal)).rejects.toThrow('broke off');
  });

  it('end with the job, whatever the pause', async () => {
    const gone = new Error('client gone');
    const job = new AbortController();
    const waiting = budgetWith({ retryDelayMs: 60_000, maxRetryDelayMs: 60_000 }).spend(fault(), job.signal);
    job.abort(gone);
    await expect(waiting).rejects.toMatchObject({ cause: gone });
  });
});

describe('the pause before a repetition', () => {
  it.each([
    ['the limits say', { retryDelayMs: 60_000, maxRetryDelayMs: 60_000 }, 0],
    ['the server asks for', { maxRetryAfterMs: 60_000 }, 60_000],
  ])('is as long as %s', async (_what, limits, retryAfterMs) => {
    const job = new AbortController();
    const waiting = budgetWith(limits).spend(fault('retry', retryAfterMs), job.signal);
    const givenUp = expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await delay(20);
    job.abort();
    await givenUp;
  });

  it('is no longer than the longest', async () => {
    await budgetWith({ retryDelayMs: 60_000, maxRetryDelayMs: 0 }).spend(fault(), signal);
  });

  it('is not begun where the server asks for more than anybody waits', async () => {
    const longPause = fault('retry', 1001);
    await expect(budgetWith({ maxRetryAfterMs: 1000 }).spend(longPause, signal)).rejects.toBe(longPause);
    await budgetWith({ maxRetryAfterMs: 1 }).spend(fault('retry', 1), signal);
  });
});
