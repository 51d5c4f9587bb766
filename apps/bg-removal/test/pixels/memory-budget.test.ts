import { MemoryBudget, pixelMemory } from '../../src/pixels/memory-budget.js';

const never = new AbortController().signal;

/** Takes memory; `order` gets the name as soon as it is there. */
function taker(budget: MemoryBudget) {
  const order: string[] = [];
  const take = async (name: string, bytes: number, signal = never) => {
    const giveBack = await budget.take(bytes, signal);
    order.push(name);
    return giveBack;
  };
  return { order, take };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('gives memory in the order of requests, and a large one is not overtaken', async () => {
  const { order, take } = taker(new MemoryBudget(100));
  const first = await take('first', 60);
  const large = take('large', 80);
  const small = take('small', 10);
  await settle();
  expect(order).toEqual(['first']);
  first();
  first();
  await Promise.all([large, small]);
  expect(order).toEqual(['first', 'large', 'small']);
  const last = take('last', 20);
  await settle();
  expect(order).toHaveLength(3);
  (await small)();
  await last;
});

test('who gives up makes room for those behind, and takes nothing', async () => {
  const { order, take } = taker(new MemoryBudget(100));
  const first = await take('first', 60);
  const gone = new AbortController();
  const large = take('large', 80, gone.signal);
  const small = take('small', 40);
  gone.abort(new Error('gone'));
  await expect(large).rejects.toThrow('gone');
  await small;
  expect(order).toEqual(['first', 'small']);
  first();
  await take('whole', 60);
});

test('nothing needs no room', async () => {
  const { take } = taker(new MemoryBudget(100));
  await take('all', 100);
  await take('none', 0);
});

test('an image that fits in what its process may keep does not wait behind one that needs more', async () => {
  const { order, take } = taker(new MemoryBudget(100));
  await take('first', 60);
  void take('large', 80);
  await take('small', 0);
  expect(order).toEqual(['first', 'small']);
});

const gibibyte = 1024 ** 3;

test.each([
  [2.4 * gibibyte, 2],
  [1.6 * gibibyte, 2],
  [61 * gibibyte, 8],
])('processes and images share %d bytes', (bytes, processes) => {
  const { processBytes, budgetBytes } = pixelMemory(bytes, processes);
  expect(processBytes * processes + budgetBytes).toBeLessThanOrEqual(bytes * 0.95);
  expect(budgetBytes).toBeGreaterThanOrEqual(processBytes - 1);
});

test('a container that is too small still takes small images', () => {
  const { processBytes, budgetBytes } = pixelMemory(0.2 * gibibyte, 2);
  expect(processBytes + budgetBytes).toBeGreaterThan(390 * 1024 ** 2);
});
