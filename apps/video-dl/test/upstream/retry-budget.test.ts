import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@media-services/http-common';
import { RetryBudget } from '../../src/upstream/retry-budget.js';
import { defaultLimits } from '../../src/upstream/media-source.js';
import { TransferFault, type FaultRemedy } from '../../src/upstream/transfer-fault.js';

const enough = 16 * 1024;
const fault = (remedy: FaultRemedy = 'retry', retryAfterMs = 0) =>
  new TransferFault(new DomainError('upstream_error', 'The connection broke.'), remedy, retryAfterMs);
const budgetWith = (limits: Partial<typeof defaultLimits> = {}) =>
  new RetryBudget({ ...defaultLimits, retryDelayMs: 0, maxRetryDelayMs: 0, maxAttempts: 3, ...limits });
const { signal } = new AbortController();

describe('retries of a transfer', () => {
  it('end after the maximum number of consecutive failures', async () => {
    const budget = budgetWith();
    const last = fault();
    await budget.spend(fault(), signal);
    await budget.spend(fault(), signal);
    await expect(budget.spend(last, signal)).rejects.toBe(last);
  });

  it('start over after progress', async () => {
    const budget = budgetWith();
    for (let round = 0; round < 5; round += 1) {
      await budget.spend(fault(), signal);
      await budget.spend(fault(), signal);
      budget.received(enough - 1);
      budget.received(1);
    }
  });

  it('are not regained by a few bytes, or by bytes before the last fault', async () => {
    const budget = budgetWith();
    budget.received(enough);
    await budget.spend(fault(), signal);
    budget.received(enough - 1);
    await budget.spend(fault(), signal);
    budget.received(enough - 1);
    await expect(budget.spend(fault(), signal)).rejects.toThrow('broke');
  });

  it('are limited to a thousand regardless of progress', async () => {
    const budget = budgetWith();
    for (let count = 1; count < 1000; count += 1) {
      await budget.spend(fault(), signal);
      budget.received(enough);
    }
    await expect(budget.spend(fault(), signal)).rejects.toThrow('broke');
  });

  it('never happen for a fault without a remedy', async () => {
    const hopeless = fault('none');
    await expect(budgetWith().spend(hopeless, signal)).rejects.toBe(hopeless);
  });

  it('renew the URL once, and once more after progress', async () => {
    const budget = budgetWith();
    await budget.spend(fault('renew'), signal);
    await budget.spend(fault('retry'), signal);
    budget.received(enough);
    await budget.spend(fault('renew'), signal);
    await expect(budget.spend(fault('renew'), signal)).rejects.toThrow('broke');
  });

  it('end immediately with the job, even during a delay', async () => {
    const gone = new Error('client gone');
    const job = new AbortController();
    const waiting = budgetWith({ retryDelayMs: 60_000, maxRetryDelayMs: 60_000 }).spend(fault(), job.signal);
    job.abort(gone);
    await expect(waiting).rejects.toMatchObject({ cause: gone });
  });
});

describe('the delay before a retry', () => {
  it.each([
    ['the limits', { retryDelayMs: 60_000, maxRetryDelayMs: 60_000 }, 0],
    ['Retry-After', { maxRetryAfterMs: 60_000 }, 60_000],
  ])('follows %s', async (_what, limits, retryAfterMs) => {
    const job = new AbortController();
    const waiting = budgetWith(limits).spend(fault('retry', retryAfterMs), job.signal);
    const aborted = expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await delay(20);
    job.abort();
    await aborted;
  });

  it('never exceeds the maximum', async () => {
    await budgetWith({ retryDelayMs: 60_000, maxRetryDelayMs: 0 }).spend(fault(), signal);
  });

  it('fails immediately if Retry-After is too long', async () => {
    const longPause = fault('retry', 1001);
    await expect(budgetWith({ maxRetryAfterMs: 1000 }).spend(longPause, signal)).rejects.toBe(longPause);
    await budgetWith({ maxRetryAfterMs: 1 }).spend(fault('retry', 1), signal);
  });
});
