import { Claims } from '../src/index.js';
import { FairQueue, type Running } from '../src/fair-queue.js';

interface Entry {
  readonly name: string;
  readonly claims: Claims;
}

/** A queue for two engines. A client gets one of them. Time passes on command. */
class Bench {
  readonly queue = new FairQueue<Entry>((client, queue) => queue.runningOf(client) < 1);
  readonly running: (Running & { readonly name: string })[] = [];

  ask(client: string, name = client): Entry {
    const entry = { name, claims: Claims.of(client) };
    this.queue.add(entry);
    this.fill();
    return entry;
  }

  fill(): void {
    while (this.running.length < 2) {
      const next = this.queue.take();
      if (next === undefined) return;
      const running = this.queue.start(next.client, next.entry.claims);
      this.running.push({ ...running, name: next.entry.name });
    }
  }

  end(name: string, chargedMs?: number): void {
    const index = this.running.findIndex((each) => each.name === name);
    this.running.splice(index, 1)[0]?.end(chargedMs);
    this.fill();
  }

  /** One job, alone. */
  teach(client: string, ms: number): void {
    this.ask(client);
    vi.advanceTimersByTime(ms);
    this.end(client);
  }

  /** Like the supervisor: checks four times a second, until the entry runs. @returns how long it waited */
  waitFor(name: string): number {
    const since = performance.now();
    while (!this.running.some((each) => each.name === name)) {
      const victim = this.queue.toInterrupt(this.running);
      if (victim) this.end(victim.name, 20_000);
      else vi.advanceTimersByTime(250);
      if (performance.now() - since > 60_000) throw new Error(`${name} never ran`);
    }
    return performance.now() - since;
  }

  get names(): string[] {
    return this.running.map(({ name }) => name);
  }
}

let bench: Bench;
beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  bench = new Bench();
});
afterEach(() => vi.useRealTimers());

const attackers = (count: number) => Array.from({ length: count }, (_, index) => `attacker ${index}`);

describe.each([1, 2, 50])('with pages that never end from %i clients', (count) => {
  test('a newcomer waits at most five seconds', () => {
    for (const name of attackers(count)) bench.ask(name);
    vi.advanceTimersByTime(100);
    bench.ask('newcomer');
    expect(bench.waitFor('newcomer')).toBeLessThanOrEqual(5_000);
  });

  test('a client whose pages are quick waits at most three seconds, again and again', () => {
    bench.teach('polite', 300);
    for (let round = 0; round < 20; round += 1) {
      for (const name of attackers(count)) bench.ask(name, `${name} in round ${round}`);
      vi.advanceTimersByTime(5_000);
      bench.ask('polite', `polite ${round}`);
      expect(bench.waitFor(`polite ${round}`)).toBeLessThanOrEqual(3_000);
      vi.advanceTimersByTime(300);
      bench.end(`polite ${round}`);
    }
  });
});

test('nobody is interrupted while no one waits', () => {
  bench.ask('slow');
  vi.advanceTimersByTime(600_000);
  expect(bench.queue.toInterrupt(bench.running)).toBeUndefined();
});

test('a job is not interrupted in its first four seconds, nor for a client that has just arrived', () => {
  bench.ask('a');
  bench.ask('b');
  bench.ask('newcomer');
  vi.advanceTimersByTime(3_900);
  expect(bench.queue.toInterrupt(bench.running)).toBeUndefined();
  vi.advanceTimersByTime(200);
  expect(bench.queue.toInterrupt(bench.running)).toMatchObject({ startedAt: 0 });
});

test('clients whose pages always take long do not interrupt each other', () => {
  for (const name of ['a', 'b', 'c']) bench.teach(name, 6_000);
  for (const name of ['a', 'b', 'c']) bench.ask(name);
  vi.advanceTimersByTime(14_000);
  expect(bench.queue.toInterrupt(bench.running)).toBeUndefined();
});

test('a client that was interrupted makes way at once the next time', () => {
  for (const name of ['attacker 0', 'attacker 1']) {
    bench.ask(name);
    bench.end(name, 20_000);
    bench.ask(name);
  }
  bench.ask('newcomer');
  expect(bench.queue.toInterrupt(bench.running)).toBeDefined();
});

describe('work that several wait for', () => {
  test('ranks as the best-placed of them and starts at once', () => {
    bench.ask('attacker', 'endless');
    bench.ask('other');
    const shared = bench.ask('attacker', 'shared');
    bench.end('other');
    expect(bench.names).toEqual(['endless']);
    shared.claims.add({ client: 'innocent', reject: () => undefined });
    bench.fill();
    expect(bench.names).toEqual(['endless', 'shared']);
  });

  test('loses a claim in a full queue, not its place', () => {
    const rejected: string[] = [];
    const claim = (client: string) => ({ client, reject: () => void rejected.push(client) });
    for (const name of ['polite', 'innocent']) bench.teach(name, 100);
    bench.ask('a');
    bench.ask('b');
    const shared = { name: 'shared', claims: new Claims() };
    const ofAttacker = claim('attacker');
    const leave = shared.claims.add(ofAttacker);
    shared.claims.add(claim('innocent'));
    bench.queue.add(shared);
    const newcomer = { name: 'new', claims: new Claims() };
    const ofPolite = claim('polite');
    newcomer.claims.add(ofPolite);
    bench.queue.add(newcomer);
    expect(bench.queue.evict(ofPolite, new Error('full'))).toBeUndefined();
    expect(rejected).toEqual(['attacker']);
    leave();
    bench.end('a');
    expect(bench.names).toContain('shared');
  });
});
