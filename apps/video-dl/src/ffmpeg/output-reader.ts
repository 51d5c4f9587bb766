import type { Readable } from 'node:stream';

/** Enough to make the cost of each batch small beside that of its bytes. */
export const batchBytes = 128 * 1024;
/** How long a batch waits for more bytes. */
const gatherMs = 1;
/** We pause the child's output above this. */
const maxWaitingBytes = 256 * 1024;

/** Reads a child's output in batches. ffmpeg writes 32 KiB at a time, which costs more to pass on one by one. */
export class OutputReader {
  readonly #output: Readable;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #end: { readonly error: Error | null } | null = null;
  /** What the reader waits for. */
  #wantedBytes = 0;
  #wake: (() => void) | null = null;
  #gathering: NodeJS.Timeout | null = null;

  constructor(output: Readable) {
    this.#output = output;
    output
      .on('data', (chunk: Buffer) => this.#push(chunk))
      .on('end', () => this.#finish(null))
      .on('error', (error) => this.#finish(error))
      .on('close', () => this.#finish(new Error("the child's output was closed before its end")));
  }

  /**
   * The chunks that arrived since the last call, at least one; null at the end. Only one call at a time.
   * @param wantedBytes if nothing has arrived yet, waits a moment for more than the next chunk
   * @throws the output's error
   */
  async next(wantedBytes = 0): Promise<readonly Buffer[] | null> {
    if (this.#waiting.length === 0 && this.#end === null) {
      this.#wantedBytes = wantedBytes;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#waiting.length === 0) {
      if (this.#end?.error) throw this.#end.error;
      return null;
    }
    const chunks = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#output.isPaused()) this.#output.resume();
    return chunks;
  }

  #push(chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= maxWaitingBytes) this.#output.pause();
    if (this.#wake === null) return;
    if (this.#waitingBytes >= this.#wantedBytes) this.#notify();
    else this.#gathering ??= setTimeout(() => this.#notify(), gatherMs);
  }

  #finish(error: Error | null): void {
    this.#end ??= { error };
    this.#notify();
  }

  #notify(): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    this.#wake?.();
    this.#wake = null;
  }
}
