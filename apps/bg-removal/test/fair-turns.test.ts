import fc from 'fast-check';
import { FairTurns } from '../dist/fair-turns.js';

const never = new AbortController().signal;

/** Work that ends when it is told to, and the order in which it began. */
class Work {
  readonly begun: string[] = [];
  readonly #ends: (() => void)[] = [];

  readonly of = (name: string) => () => {
    this.begun.push(name);
    return new Promise<void>((resolve) => this.#ends.push(resolve));
  };

  async endOldest(): Promise<void> {
    await settled();
    this.#ends.shift()?.();
    await settled();
  }
}

/** When everything that follows from promises already kept has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a newcomer is next, however many of a greedy client wait', async () => {
  const turns = new FairTurns(1);
  const work = new Work();
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => turns.run('a', never, work.of(name)));
  all.push(turns.run('b', never, work.of('b1')), turns.run('b', never, work.of('b2')));
  for (let i = 0; i < 6; i++) await work.endOldest();
  await Promise.all(all);
  expect(work.begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
});

test('a free turn goes to who has the fewest running', async () => {
  const turns = new FairTurns(2);
  const work = new Work();
  const all = ['a1', 'a2', 'a3'].map((name) => turns.run('a', never, work.of(name)));
  all.push(turns.run('b', never, work.of('b1')));
  await work.endOldest();
  expect(work.begun).toEqual(['a1', 'a2', 'b1']);
  for (let i = 0; i < 4; i++) await work.endOldest();
  await Promise.all(all);
});

test('who gives up while waiting gets no turn, and holds nobody up', async () => {
  const turns = new FairTurns(1);
  const work = new Work();
  const gone = new AbortController();
  const first = turns.run('a', never, work.of('a1'));
  const given = turns.run('b', gone.signal, work.of('b1'));
  const last = turns.run('c', never, work.of('c1'));
  gone.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  await work.endOldest();
  await work.endOldest();
  await Promise.all([first, last]);
  expect(work.begun).toEqual(['a1', 'c1']);
});

test('never more run than may, and all get their turn', async () => {
  const clients = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), clients, async (capacity, sequence) => {
      const turns = new FairTurns(capacity);
      const work = new Work();
      const all = sequence.map((client) => turns.run(client, never, work.of(client)));
      for (let ended = 0; ended < sequence.length; ended++) {
        await settled();
        expect(work.begun.length - ended).toBe(Math.min(capacity, sequence.length - ended));
        await work.endOldest();
      }
      await Promise.all(all);
      expect(work.begun).toHaveLength(sequence.length);
    }),
  );
});
