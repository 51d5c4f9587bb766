interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

/**
 * Memory that all images share. An image takes its estimate before it is decoded and waits in turn if
 * there is too little, so together they never need more than the container has.
 */
export class MemoryBudget {
  #free: number;
  /** First come, first served: a large image is not overtaken until its time is up. */
  readonly #waiting: Waiting[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /**
   * Takes memory, and returns a function that gives it back.
   * @param bytes at most the whole budget
   * @throws the signal's reason if it aborts before
   */
  async take(bytes: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason as Error);
        this.#startNext();
      };
      const start = (): void => {
        signal.removeEventListener('abort', onAbort);
        this.#free -= bytes;
        resolve();
      };
      const waiting: Waiting = { bytes, start };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#startNext();
    });
    let isHeld = true;
    return () => {
      if (isHeld) this.#free += bytes;
      isHeld = false;
      this.#startNext();
    };
  }

  #startNext(): void {
    for (let [next] = this.#waiting; next !== undefined && next.bytes <= this.#free; [next] = this.#waiting) {
      this.#waiting.shift();
      next.start();
    }
  }
}
