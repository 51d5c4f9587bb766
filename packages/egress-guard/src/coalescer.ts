import { setImmediate as nextTurn } from 'node:timers/promises';

/** The sender's side of a connection. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** A peer sends its bytes in too many tiny pieces. */
export class TinyPiecesError extends Error {
  override readonly name = 'TinyPiecesError';
}

/** Readers get at least this much at once, unless the bytes end or the wire pauses. */
const enoughBytes = 16 * 1024;
/** Readers never get more than this at once, so that the work for one chunk is bounded. */
export const maxChunkBytes = 64 * 1024;
/** The wire is paused above this. */
const maxWaitingBytes = 128 * 1024;
/** Pieces below this are copied together: a view would keep a whole read in memory. */
const copiedBytes = 2 * 1024;
/** When less than `enoughBytes` has come and nothing follows for this long, readers get what there is. */
const wirePauseMs = 3;
/** A reader that has worked for this long lets the event loop turn. */
const maxWorkMs = 5;

/** Pieces are judged in groups: about 3 ms of work when each carries one byte. */
const groupPieces = 2048;
/** A group below this average is a flood: the pieces cost more than the bytes. */
const minAveragePieceBytes = 64;
/** After a group of tiny pieces. The source gets a quarter of a core at most. */
const floodPauseMs = 9;
/** Groups of tiny pieces until the source is rejected: a million pieces. */
const maxFloodGroups = 512;

/**
 * Joins the pieces in which a peer sends its bytes into chunks of 16 to 64 KiB, so
 * that the peer does not decide how often a parser runs. A peer that sends pieces of a
 * few bytes is slowed down, and rejected when it does not stop.
 */
export class Coalescer {
  readonly #flow: Flow;
  /** In order; their bytes are the reader's. */
  readonly #parts: Buffer[] = [];
  /** Small pieces after the last of the parts. */
  #tail: Buffer | null = null;
  #tailBytes = 0;
  #waitingBytes = 0;
  #end: { readonly error: Error | null } | null = null;
  #isPaused = false;
  #pieces = 0;
  #pieceBytes = 0;
  #floodGroups = 0;
  /** Set while the source is slowed down. */
  #flood: NodeJS.Timeout | null = null;
  #wirePause: NodeJS.Timeout | null = null;
  #hasWirePaused = false;
  #wake: (() => void) | null = null;
  #turnedAt = performance.now();

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  /** Takes the next piece from the wire. It must not be changed afterwards. */
  push(piece: Buffer): void {
    if (this.#end !== null) return;
    if (piece.length < copiedBytes) this.#copy(piece);
    else {
      this.#endTail();
      this.#parts.push(piece);
    }
    this.#waitingBytes += piece.length;
    this.#judge(piece.length);
    if (this.#waitingBytes >= maxWaitingBytes) this.#pause();
    if (this.#waitingBytes >= enoughBytes) this.#notify();
    else this.#wirePause ??= setTimeout(() => this.#onWirePause(), wirePauseMs);
  }

  /** No more pieces come. @param error why, when that is not the end of the bytes */
  end(error: Error | null = null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    this.#clearTimers();
    this.#notify();
  }

  /**
   * The next chunk; null at the end. At most one call at a time.
   * @throws the error that the bytes ended with, after the last of them
   */
  async next(): Promise<Buffer | null> {
    if (performance.now() - this.#turnedAt > maxWorkMs) await this.#turn();
    while (!this.#isReady()) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#turnedAt = performance.now();
    }
    const chunk = this.#take();
    if (chunk !== null) return chunk;
    if (this.#end?.error) throw this.#end.error;
    return null;
  }

  async #turn(): Promise<void> {
    await nextTurn();
    this.#turnedAt = performance.now();
  }

  #isReady(): boolean {
    return (
      this.#end !== null ||
      this.#waitingBytes >= enoughBytes ||
      (this.#hasWirePaused && this.#waitingBytes > 0)
    );
  }

  #take(): Buffer | null {
    this.#hasWirePaused = false;
    this.#endTail();
    const first = this.#parts[0];
    if (first === undefined) return null;
    const chunk = first.length < enoughBytes ? this.#join() : this.#cut(first);
    this.#waitingBytes -= chunk.length;
    if (this.#waitingBytes < maxWaitingBytes / 2) this.#resume();
    return chunk;
  }

  /** The front of the first part, which is large enough. */
  #cut(first: Buffer): Buffer {
    if (first.length <= maxChunkBytes) this.#parts.shift();
    else this.#parts[0] = first.subarray(maxChunkBytes);
    return first.subarray(0, maxChunkBytes);
  }

  /** Joins parts from the front until there is enough. */
  #join(): Buffer {
    const joined: Buffer[] = [];
    let bytes = 0;
    for (let part = this.#parts.shift(); part !== undefined; part = this.#parts.shift()) {
      const taken = part.subarray(0, enoughBytes - bytes);
      joined.push(taken);
      bytes += taken.length;
      if (taken.length < part.length) this.#parts.unshift(part.subarray(taken.length));
      if (bytes === enoughBytes) break;
    }
    return joined.length === 1 && joined[0] !== undefined ? joined[0] : Buffer.concat(joined, bytes);
  }

  #copy(piece: Buffer): void {
    if (this.#tail !== null && this.#tailBytes + piece.length > this.#tail.length) this.#endTail();
    this.#tail ??= Buffer.allocUnsafeSlow(enoughBytes);
    piece.copy(this.#tail, this.#tailBytes);
    this.#tailBytes += piece.length;
  }

  #endTail(): void {
    if (this.#tail === null || this.#tailBytes === 0) return;
    this.#parts.push(this.#tail.subarray(0, this.#tailBytes));
    this.#tail = null;
    this.#tailBytes = 0;
  }

  #judge(bytes: number): void {
    this.#pieces += 1;
    this.#pieceBytes += bytes;
    if (this.#pieces < groupPieces) return;
    const isFlood = this.#pieceBytes < groupPieces * minAveragePieceBytes;
    this.#pieces = 0;
    this.#pieceBytes = 0;
    if (!isFlood) return;
    this.#floodGroups += 1;
    if (this.#floodGroups > maxFloodGroups) {
      this.end(new TinyPiecesError('the peer sends its bytes in too many tiny pieces'));
      return;
    }
    this.#pause();
    this.#flood ??= setTimeout(() => {
      this.#flood = null;
      if (this.#waitingBytes < maxWaitingBytes / 2) this.#resume();
    }, floodPauseMs);
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#flow.pause();
  }

  #resume(): void {
    if (!this.#isPaused || this.#flood !== null || this.#end !== null) return;
    this.#isPaused = false;
    this.#flow.resume();
  }

  #onWirePause(): void {
    this.#wirePause = null;
    this.#hasWirePaused = true;
    this.#notify();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = null;
  }

  #clearTimers(): void {
    if (this.#flood !== null) clearTimeout(this.#flood);
    if (this.#wirePause !== null) clearTimeout(this.#wirePause);
    this.#flood = null;
    this.#wirePause = null;
  }
}

/** Cuts bytes that are all there into chunks; the event loop turns while they are worked on. */
export async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer, void, void> {
  let turnedAt = performance.now();
  for (let at = 0; at < bytes.length; at += maxChunkBytes) {
    if (performance.now() - turnedAt > maxWorkMs) {
      await nextTurn();
      turnedAt = performance.now();
    }
    yield bytes.subarray(at, at + maxChunkBytes);
  }
}
