import fc from 'fast-check';
import { FairTurns } from '../src/fair-turns.js';

const never = new AbortController().signal;

/** Work that ends on command; records the order in which it started. */
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

/** Resolves after all pending promise callbacks have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("a new client is next, however many of a greedy client's jobs wait", async () => {
  const turns = new FairTurns({ capacity: 1, maxHeld: 1000 });
  const work = new Work();
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => turns.run('a', never, work.of(name)));
  all.push(turns.run('b', never, work.of('b1')), turns.run('b', never, work.of('b2')));
  for (let i = 0; i < 6; i++) await work.endOldest();
  await Promise.all(all);
  expect(work.begun).toEqual(['a1', 'b1', 'b2', 'a2', 'a3', 'a4']);
});

test('a free turn goes to the client with the fewest running', async () => {
  const turns = new FairTurns({ capacity: 2, maxHeld: 1000 });
  const work = new Work();
  const all = ['a1', 'a2', 'a3'].map((name) => turns.run('a', never, work.of(name)));
  all.push(turns.run('b', never, work.of('b1')));
  await work.endOldest();
  expect(work.begun).toEqual(['a1', 'a2', 'b1']);
  for (let i = 0; i < 4; i++) await work.endOldest();
  await Promise.all(all);
});

test('a client that leaves while waiting gets no turn and blocks nobody', async () => {
  const turns = new FairTurns({ capacity: 1, maxHeld: 1000 });
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

test('never runs more than the capacity, and everyone gets a turn', async () => {
  const clients = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), clients, async (capacity, sequence) => {
      const turns = new FairTurns({ capacity, maxHeld: 1000 });
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

describe('slots', () => {
  /** Client work that ends on command; `code` is the error code, or undefined if it got a slot. */
  function slotHolder(slots: number) {
    const turns = new FairTurns({ capacity: 1, maxHeld: slots });
    return (client: string): { code: string | undefined; leave: () => Promise<void> } => {
      const gone = new AbortController();
      try {
        turns.assertRoom(client);
      } catch (error) {
        return { code: (error as { code: string }).code, leave: () => Promise.resolve() };
      }
      const ends = deferred();
      const done = turns.run(client, gone.signal, () => ends.promise).catch(() => undefined);
      const leave = async (): Promise<void> => {
        ends.resolve();
        gone.abort();
        await done;
      };
      return { code: undefined, leave };
    };
  }

  function deferred(): { promise: Promise<void>; resolve: () => void } {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((kept) => (resolve = kept));
    return { promise, resolve };
  }

  test('a single client gets about half of the slots, and another when it frees one', async () => {
    const ask = slotHolder(9);
    const asked = Array.from({ length: 6 }, () => ask('greedy'));
    expect(asked.map(({ code }) => code)).toEqual([...Array<undefined>(5).fill(undefined), 'rate_limited']);
    await asked[0]?.leave();
    expect(ask('greedy').code).toBeUndefined();
  });

  test('once the only slot is taken, the service is busy for everyone', async () => {
    const ask = slotHolder(1);
    const { leave } = ask('a');
    expect(ask('a').code).toBe('overloaded');
    expect(ask('b').code).toBe('overloaded');
    await leave();
    expect(ask('b').code).toBeUndefined();
  });

  test('with up to three greedy clients, another one still gets one of nine slots', () => {
    const greedy = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 200 });
    fc.assert(
      fc.property(greedy, (sequence) => {
        const ask = slotHolder(9);
        for (const client of sequence) ask(client);
        expect(ask('newcomer').code).toBeUndefined();
      }),
    );
  });
});
