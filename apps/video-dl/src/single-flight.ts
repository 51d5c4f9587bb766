import { untilAborted } from '@media-services/http-common';

/** Work shared by several callers. It runs once and is aborted when the last caller leaves. */
export class SingleFlight<Result> {
  readonly #flights = new Map<string, Flight<Result>>();

  get size(): number {
    return this.#flights.size;
  }

  has(key: string): boolean {
    return this.#flights.has(key);
  }

  /**
   * Joins the running work for this key, or starts it.
   * @throws what the work throws; the reason of the caller's signal
   */
  async run(
    key: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting += 1;
    try {
      return await untilAborted(flight.result, signal);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) {
        this.#forget(key, flight);
        flight.controller.abort(new Error('no caller is waiting any more'));
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<Result>): Flight<Result> {
    const controller = new AbortController();
    const result = work(controller.signal);
    const flight: Flight<Result> = { controller, result, waiting: 0 };
    this.#flights.set(key, flight);
    const forget = (): void => this.#forget(key, flight);
    // All callers may have left when the work fails; this keeps the rejection handled.
    result.then(forget, forget);
    return flight;
  }

  #forget(key: string, flight: Flight<Result>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

interface Flight<Result> {
  readonly controller: AbortController;
  readonly result: Promise<Result>;
  waiting: number;
}
