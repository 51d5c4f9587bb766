import { ByteBudget } from '../../dist/api/byte-budget.js';

const never = new AbortController().signal;

/** A transfer that lasts until the test ends it, or the budget needs its bytes. */
function transfer(budget: ByteBudget, client: string, bytes: number) {
  let end = (): void => undefined;
  const outcome = budget
    .run(client, bytes, never, (signal) => {
      return new Promise<string>((resolve, reject) => {
        end = () => resolve('done');
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    })
    .catch((error: unknown) => (error as { code: string }).code);
  return { outcome, end: () => end() };
}

test('takes bytes back from the client that holds most, its oldest transfer first', async () => {
  const budget = new ByteBudget(100);
  const first = transfer(budget, 'greedy', 30);
  const second = transfer(budget, 'greedy', 30);
  const other = transfer(budget, 'other', 40);
  const newcomer = transfer(budget, 'newcomer', 20);
  expect(await first.outcome).toBe('overloaded');
  expect(budget.heldBytes).toBe(90);
  for (const { end } of [second, other, newcomer]) end();
  expect(await Promise.all([second.outcome, other.outcome, newcomer.outcome])).toEqual([
    'done',
    'done',
    'done',
  ]);
  expect(budget.heldBytes).toBe(0);
});

test('a transfer that is larger than the whole budget gets all of it', async () => {
  const budget = new ByteBudget(100);
  const small = transfer(budget, 'a', 10);
  const huge = transfer(budget, 'b', 500);
  expect(await small.outcome).toBe('overloaded');
  huge.end();
  expect(await huge.outcome).toBe('done');
});

test('a transfer whose client goes away gives its bytes back', async () => {
  const budget = new ByteBudget(100);
  const gone = new AbortController();
  const lost = budget.run('a', 60, gone.signal, async (signal) => {
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  });
  gone.abort(new Error('gone'));
  await expect(lost).rejects.toThrow('gone');
  expect(budget.heldBytes).toBe(0);
});
