import { DomainError } from '@media-services/http-common';
import { StreamSlots } from '../../src/deliver/slots.js';

const never = new AbortController().signal;
const slots = (maxConcurrent: number, maxQueued = 16): StreamSlots =>
  new StreamSlots({ maxConcurrent, maxQueued });

/** The clients in the order in which they get a slot. */
function queueUp(
  fair: StreamSlots,
  ...clients: string[]
): { granted: string[]; release(client: string): void } {
  const granted: string[] = [];
  const releases: { client: string; release: () => void }[] = [];
  for (const client of clients) {
    fair.acquire(client, never).then(
      (release) => {
        granted.push(client);
        releases.push({ client, release });
      },
      (error: unknown) => granted.push(error instanceof DomainError ? `${client} refused` : String(error)),
    );
  }
  return {
    granted,
    release: (client) => {
      const index = releases.findIndex((held) => held.client === client);
      releases.splice(index, 1)[0]?.release();
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const times = (count: number, client: string): string[] => Array.from({ length: count }, () => client);

describe('slots', () => {
  it('are reserved for a new client when another takes all it can get', async () => {
    const { granted } = queueUp(slots(8), ...times(12, 'greedy'), 'newcomer');
    await settled();
    expect(granted.filter((client) => client === 'greedy')).toHaveLength(6);
    expect(granted).toContain('newcomer');
  });

  it('in a small pool go to the new client first', async () => {
    const queue = queueUp(slots(2), 'greedy', 'greedy', 'greedy', 'newcomer');
    await settled();
    queue.release('greedy');
    await settled();
    expect(queue.granted).toEqual(['greedy', 'greedy', 'newcomer']);
  });

  it('in a pool of one are given in turn', async () => {
    const queue = queueUp(slots(1), 'greedy', 'newcomer');
    await settled();
    queue.release('greedy');
    await settled();
    expect(queue.granted).toEqual(['greedy', 'newcomer']);
  });

  it('go to the client with the fewest, not to the first in line', async () => {
    const queue = queueUp(slots(4), ...times(6, 'greedy'), 'modest', 'second', 'second');
    await settled();
    expect(queue.granted).toEqual([...times(3, 'greedy'), 'modest']);
    queue.release('greedy');
    await settled();
    expect(queue.granted.at(-1)).toBe('second');
  });

  it('in the queue are limited to half for one client', async () => {
    const { granted } = queueUp(slots(1, 4), ...times(4, 'greedy'), 'newcomer');
    await settled();
    expect(granted.toSorted()).toEqual(['greedy', 'greedy refused']);
  });

  it('are rejected when the queue is full', async () => {
    const { granted } = queueUp(slots(1, 2), 'a', 'b', 'c', 'd');
    await settled();
    expect(granted.toSorted()).toEqual(['a', 'd refused']);
  });

  it('are counted when a client leaves the queue', async () => {
    const fair = slots(1);
    const release = await fair.acquire('a', never);
    const leaving = new AbortController();
    const left = fair.acquire('b', leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    release();
    release();
    expect({ running: fair.running, waiting: fair.waiting }).toEqual({ running: 0, waiting: 0 });
  });
});
