import { untilAborted } from '@media-services/http-common';
import { Claims } from '@media-services/processes';

type Work<Result> = (signal: AbortSignal, claims: Claims) => Promise<Result>;

/**
 * Work shared by several callers. It runs once, belongs to all of them (`Claims`), and is aborted
 * when the last caller leaves.
 */
export class SingleFlight<Result> {
  readonly #flights = new Map<string, Flight<Result>>();

  get size(): number {
    return this.#flights.size;
  }

  /** Who waits for the running work of this key. */
  claimsOf(key: string): Claims | undefined {
    return this.#flights.get(key)?.claims;
  }

  /**
   * Joins the running work for this key, or starts it.
   * @param client whose place in a queue the work may take
   * @throws what the work throws; the reason of the caller's signal; why a queue rejected this caller
   */
  async run(key: string, signal: AbortSignal, work: Work<Result>, client = ''): Promise<Result> {
    signal.throwIfAborted();
    const rejected = new AbortController();
    const flight = this.#flights.get(key) ?? { controller: new AbortController(), claims: new Claims() };
    const leave = flight.claims.add({ client, reject: (error) => rejected.abort(error) });
    flight.result ??= this.#start(key, flight, work);
    try {
      return await untilAborted(flight.result, AbortSignal.any([signal, rejected.signal]));
    } finally {
      leave();
      if (flight.claims.size === 0) {
        this.#forget(key, flight);
        flight.controller.abort(new Error('no caller is waiting any more'));
      }
    }
  }

  #start(key: string, flight: Flight<Result>, work: Work<Result>): Promise<Result> {
    this.#flights.set(key, flight);
    const result = work(flight.controller.signal, flight.claims);
    const forget = (): void => this.#forget(key, flight);
    // All callers may have left when the work fails; this keeps the rejection handled.
    result.then(forget, forget);
    return result;
  }

  #forget(key: string, flight: Flight<Result>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

interface Flight<Result> {
  readonly controller: AbortController;
  readonly claims: Claims;
  result?: Promise<Result>;
}
