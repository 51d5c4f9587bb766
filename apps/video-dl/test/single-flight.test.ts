import { SingleFlight } from '../src/single-flight.js';

const never = new AbortController().signal;

/** Work that the test completes. */
function controlled() {
  const runs: { signal: AbortSignal; finish: (value: string) => void; fail: (error: Error) => void }[] = [];
  const work = async (signal: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => runs.push({ signal, finish: resolve, fail: reject }));
  return { runs, work };
}

describe('SingleFlight', () => {
  it('runs the work of a key once for concurrent callers', async () => {
    const { runs, work } = controlled();
    const flights = new SingleFlight<string>();
    const answers = Array.from({ length: 200 }, async () => flights.run('page', never, work));
    runs[0]?.finish('found');
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['found']));
    expect(runs).toHaveLength(1);
    expect(flights.size).toBe(0);
  });

  it('runs different keys separately, and a key again after it finished', async () => {
    const { runs, work } = controlled();
    const flights = new SingleFlight<string>();
    const first = flights.run('a', never, work);
    const other = flights.run('b', never, work);
    runs[0]?.finish('1');
    runs[1]?.finish('2');
    await expect(Promise.all([first, other])).resolves.toEqual(['1', '2']);
    const again = flights.run('a', never, work);
    runs[2]?.finish('3');
    await expect(again).resolves.toBe('3');
  });

  it('continues for the others when one caller leaves', async () => {
    const { runs, work } = controlled();
    const flights = new SingleFlight<string>();
    const leaving = new AbortController();
    const left = flights.run('page', leaving.signal, work);
    const staying = flights.run('page', never, work);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(runs[0]?.signal.aborted).toBe(false);
    runs[0]?.finish('found');
    await expect(staying).resolves.toBe('found');
  });

  it('aborts the work when the last caller has left, and starts again for the next', async () => {
    const { runs, work } = controlled();
    const flights = new SingleFlight<string>();
    const leaving = new AbortController();
    const left = flights.run('page', leaving.signal, work);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(runs[0]?.signal.aborted).toBe(true);
    const next = flights.run('page', never, work);
    runs[0]?.fail(new Error('aborted'));
    runs[1]?.finish('found');
    await expect(next).resolves.toBe('found');
  });

  it('rejects all callers on a failure and does not cache it', async () => {
    const { runs, work } = controlled();
    const flights = new SingleFlight<string>();
    const answers = [flights.run('page', never, work), flights.run('page', never, work)];
    runs[0]?.fail(new Error('broken'));
    for (const answer of answers) await expect(answer).rejects.toThrow('broken');
    expect(flights.size).toBe(0);
  });
});
