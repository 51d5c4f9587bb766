import { setImmediate as nextTurn } from 'node:timers/promises';

/** The sender's side of a connection. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** The peer sends too many tiny pieces. */
export class TinyPiecesError extends Error {
  override readonly name = 'TinyPiecesError';
}

/** Chunks have at least this size, unless the input ends or the peer pauses. */
const minChunkBytes = 16 * 1024;
/** Chunks never exceed this size, which bounds the work per chunk. */
export const maxChunkBytes = 64 * 1024;
/** We pause the source above this. */
const maxWaitingBytes = 128 * 1024;
/** We copy pieces below this size, because a view would keep a whole read buffer in memory. */
const maxCopiedBytes = 2 * 1024;
/**
 * If nothing more arrives for this long, readers get a chunk smaller than `minChunkBytes`. The first
 * chunk doesn't wait, because a stream starts with it.
 */
const wirePauseMs = 3;
/** A reader yields to the event loop after working for this long. */
const maxWorkMs = 5;

/** We check pieces in groups of this size: about 3 ms of work when each has one byte. */
const groupPieces = 1024;
/**
 * A group with a smaller average piece is a flood: handling the pieces costs more than handling
 * the bytes.
 */
const minAveragePieceBytes = 64;
/** Pause after each flood group, which limits the source to a quarter of a core. */
const floodPauseMs = 9;
/** We reject the source after this many flood groups: a million pieces. */
const maxFloodGroups = 1024;

/**
 * Joins the pieces a peer sends into chunks of 16 to 64 KiB, so that the peer can't control how
 * often a parser runs. Slows down a peer that sends tiny pieces, and rejects it if it doesn't
 * stop.
 */
export class Coalescer {
  readonly #flow: Flow;
  /** Bytes to read, in order. */
  readonly #parts: Buffer[] = [];
  /** Collects the small pieces that follow the last part. */
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
  #hasBegun = false;
  #wake: (() => void) | null = null;
  #turnedAt = performance.now();

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  /** Adds the next piece from the source. The caller must not change it afterwards. */
  push(piece: Buffer): void {
    if (this.#end !== null) return;
    if (piece.length < maxCopiedBytes) this.#copy(piece);
    else {
      this.#endTail();
      this.#parts.push(piece);
    }
    this.#waitingBytes += piece.length;
    this.#checkForFlood(piece.length);
    if (this.#waitingBytes >= maxWaitingBytes) this.#pause();
    if (this.#waitingBytes >= minChunkBytes) this.#notify();
    else this.#wirePause ??= setTimeout(() => this.#onWirePause(), this.#hasBegun ? wirePauseMs : 0);
  }

  /** Ends the input. @param error the reason, if the input is incomplete */
  end(error: Error | null = null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    this.#clearTimers();
    this.#notify();
  }

  /**
   * The next chunk, or null at the end. Only one call at a time.
   * @throws the error passed to `end`, after the last chunk
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
      this.#waitingBytes >= minChunkBytes ||
      (this.#hasWirePaused && this.#waitingBytes > 0)
    );
  }

  #take(): Buffer | null {
    this.#hasWirePaused = false;
    this.#endTail();
    const first = this.#parts[0];
    if (first === undefined) return null;
    this.#hasBegun = true;
    const chunk = first.length < minChunkBytes ? this.#join() : this.#cut(first);
    this.#waitingBytes -= chunk.length;
    if (this.#waitingBytes < maxWaitingBytes / 2) this.#resume();
    return chunk;
  }

  /** Takes a chunk from the first part, which is large enough. */
  #cut(first: Buffer): Buffer {
    if (first.length <= maxChunkBytes) this.#parts.shift();
    else this.#parts[0] = first.subarray(maxChunkBytes);
    return first.subarray(0, maxChunkBytes);
  }

  /** Joins parts into a chunk of `minChunkBytes`, or all parts if there are fewer bytes. */
  #join(): Buffer {
    const joined: Buffer[] = [];
    let bytes = 0;
    for (let part = this.#parts.shift(); part !== undefined; part = this.#parts.shift()) {
      const taken = part.subarray(0, minChunkBytes - bytes);
      joined.push(taken);
      bytes += taken.length;
      if (taken.length < part.length) this.#parts.unshift(part.subarray(taken.length));
      if (bytes === minChunkBytes) break;
    }
    return joined.length === 1 && joined[0] !== undefined ? joined[0] : Buffer.concat(joined, bytes);
  }

  #copy(piece: Buffer): void {
    if (this.#tail !== null && this.#tailBytes + piece.length > this.#tail.length) this.#endTail();
    this.#tail ??= Buffer.allocUnsafeSlow(minChunkBytes);
    piece.copy(this.#tail, this.#tailBytes);
    this.#tailBytes += piece.length;
  }

  #endTail(): void {
    if (this.#tail === null || this.#tailBytes === 0) return;
    this.#parts.push(this.#tail.subarray(0, this.#tailBytes));
    this.#tail = null;
    this.#tailBytes = 0;
  }

  #checkForFlood(bytes: number): void {
    this.#pieces += 1;
    this.#pieceBytes += bytes;
    if (this.#pieces < groupPieces) return;
    const isFlood = this.#pieceBytes < groupPieces * minAveragePieceBytes;
    this.#pieces = 0;
    this.#pieceBytes = 0;
    if (!isFlood) return;
    this.#floodGroups += 1;
    this.#pause();
    if (this.#floodGroups > maxFloodGroups) {
      this.end(new TinyPiecesError('the peer sends too many tiny pieces'));
      return;
    }
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

/** Splits a whole buffer into chunks, and yields to the event loop between them. */
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
