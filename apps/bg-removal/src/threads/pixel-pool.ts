import { Piscina } from 'piscina';
import type { CutOutResult, CutOutTask, PixelTask, Prepared, PrepareTask } from './tasks.js';

/** The threads in which images are decoded, cut out and encoded. */
export class PixelPool implements AsyncDisposable {
  readonly #piscina: Piscina<PixelTask, Prepared | CutOutResult>;

  constructor(options: { threads: number }) {
    this.#piscina = new Piscina({
      filename: new URL('./pixel-worker.js', import.meta.url).href,
      // All from the start: a thread warms up when it begins.
      minThreads: options.threads,
      maxThreads: options.threads,
    });
  }

  /** @throws the signal's reason when the client is gone before the task is done */
  async prepare(task: Omit<PrepareTask, 'kind'>, signal: AbortSignal): Promise<Prepared> {
    return (await this.#run({ kind: 'prepare', ...task }, signal)) as Prepared;
  }

  /** @throws the signal's reason when the client is gone before the task is done */
  async cutOut(task: Omit<CutOutTask, 'kind'>, signal: AbortSignal): Promise<CutOutResult> {
    return (await this.#run({ kind: 'cut-out', ...task }, signal)) as CutOutResult;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#piscina.close({ force: true });
  }

  /**
   * A task that has begun is not torn out of its thread, native code might be
   * running in it: the caller stops waiting, the thread finishes and goes on.
   */
  async #run(task: PixelTask, signal: AbortSignal): Promise<Prepared | CutOutResult> {
    signal.throwIfAborted();
    const work = this.#piscina.run(task, { name: 'runPixelTask' });
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }
}
