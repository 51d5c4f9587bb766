import { DomainError, type Metrics } from '@media-services/http-common';
import { FairSlots } from '@media-services/processes';
import type { StreamLimits } from '../capacity.js';
import type { Target } from '../targets.js';

const retryAfterSeconds = 15;

/**
 * Limits how many streams run and wait, with a fair share for each client. In addition to the
 * order that `FairSlots` decides:
 *
 * - A quarter of the slots is reserved for clients with nothing running, so a greedy client
 *   leaves room for a new one.
 * - One client fills at most half of the queue.
 */
export class StreamSlots {
  readonly #maxWaiting: number;
  readonly #slots: FairSlots;

  constructor({ maxConcurrent, maxQueued }: Pick<StreamLimits, 'maxConcurrent' | 'maxQueued'>) {
    this.#maxWaiting = maxQueued;
    const forNewcomers = Math.floor(maxConcurrent / 4);
    this.#slots = new FairSlots({
      mayRun: (client, slots) =>
        maxConcurrent - slots.running > (slots.runningOf(client) > 0 ? forNewcomers : 0),
      maxWaiting: maxQueued,
      onFull: () => this.#full(0),
    });
  }

  get running(): number {
    return this.#slots.running;
  }

  get waiting(): number {
    return this.#slots.waiting;
  }

  /** @throws DomainError `overloaded` if a request of this client could neither run nor wait now */
  assertRoom(client: string): void {
    if (this.#slots.isFreeFor(client)) return;
    const own = this.#slots.waitingOf(client);
    if (this.#slots.mayWait(client) && own < Math.ceil(this.#maxWaiting / 2)) return;
    throw this.#full(own);
  }

  #full(own: number): DomainError {
    return new DomainError(
      'overloaded',
      `The service is full: ${this.running} streams are running and ${this.waiting} are waiting, ${own} of them yours. Try again in a moment.`,
      { retryAfterSeconds },
    );
  }

  /**
   * Waits for a slot.
   * @param client identifies the client
   * @returns a function that releases the slot; further calls do nothing
   * @throws DomainError `overloaded` when the queue is full; the signal's reason when it aborts first
   */
  async acquire(client: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.assertRoom(client);
    return this.#slots.acquire(client, signal);
  }
}

/** How a stream ended. */
export type StreamEnd = 'ok' | 'aborted' | 'failed' | 'truncated';

export function streamMetrics(metrics: Metrics, slots: StreamSlots) {
  metrics.gauge({
    name: 'media_streams_in_flight',
    help: 'Streams in progress.',
    collect: (gauge) => gauge.set(slots.running),
  });
  metrics.gauge({
    name: 'media_streams_queued',
    help: 'Stream requests waiting for a slot.',
    collect: (gauge) => gauge.set(slots.waiting),
  });
  const bytes = metrics.counter({
    name: 'media_stream_bytes_total',
    help: 'Media bytes sent to clients.',
    labelNames: ['target'],
  });
  const ends = metrics.counter({
    name: 'media_streams_total',
    help: 'Streams by target and end: ok, aborted by the client, failed before the first byte, or truncated after it.',
    labelNames: ['target', 'end'],
  });
  return {
    addBytes: (target: Target, count: number) => bytes.inc({ target }, count),
    countEnd: (target: Target, end: StreamEnd) => ends.inc({ target, end }),
  };
}
