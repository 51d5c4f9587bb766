const mebibyte = 1024 ** 2;
/** Peak memory of the HTTP process with the images that it receives and sends. */
const httpBytes = 250 * mebibyte;
/** The rest is for the kernel and the container's other processes. */
const usableShare = 0.95;
/** What a process keeps after a photograph of 12 megapixels; it starts anew above that. */
const mostProcessBytes = 400 * mebibyte;
/** Below this, small images would be rejected that usually fit. */
const leastBytes = 600 * mebibyte;

/**
 * How pixel processes share the memory that inference leaves: what each may keep between images, and a
 * budget for the images in addition.
 * @param bytes the container's memory without inference
 */
export function pixelMemory(bytes: number, processes: number): { processBytes: number; budgetBytes: number } {
  const usable = Math.max(leastBytes, bytes * usableShare - httpBytes);
  const processBytes = Math.min(mostProcessBytes, usable / (processes + 1));
  return { processBytes, budgetBytes: usable - processes * processBytes };
}

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
   * @param bytes at most the whole budget; 0 never waits
   * @throws the signal's reason if it aborts before
   */
  async take(bytes: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (bytes === 0) return () => undefined;
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
