import type { TrackChanges } from './joiner.js';

/** Checks the structure of a file as it streams, in constant memory and linear time. */
export interface StructureCheck extends Pick<UnitWalker, 'push' | 'canSkip' | 'skip'> {
  /** Size that the file itself states. */
  readonly statedBytes?: number | undefined;
  /** Size that the file must have at least, where its header states one that may be a bit too large. */
  readonly minBytes?: number | undefined;
  /** @throws DamagedMediaError if a file can't end here */
  end?(): void;
  /** Absent if its tracks can't change. */
  readonly changes?: TrackChanges;
}

/** Headers may count padding or a tag that isn't there. Less than half a second of almost any media. */
export const maxOverstatedBytes = 4096;

const nothing: Buffer = Buffer.alloc(0);

/** Follows the units of a file, each of which states its size. Keeps only the beginning of the next unit. */
export abstract class UnitWalker {
  /** Bytes left of the current unit. */
  protected left = 0;
  /** Offset of the next byte. */
  protected position = 0;
  /** Nothing after this point is read. */
  protected isOver = false;
  #rest: Buffer = nothing;

  /** Whether no unit has begun without its end. */
  get isComplete(): boolean {
    return this.left === 0 && this.#rest.length === 0;
  }

  /** Takes the next bytes. @throws DamagedMediaError when they aren't valid in such a file */
  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (!this.isOver) {
      const passed = Math.min(this.left, bytes.length - at);
      this.skip(passed);
      if (passed > 0) this.pass?.(bytes, at, at + passed);
      at += passed;
      const used = this.left > 0 ? null : this.beginUnit(bytes, at);
      if (used === null) break;
      this.position += used;
      at += used;
    }
    this.#rest = this.isOver || at === bytes.length ? nothing : Buffer.from(bytes.subarray(at));
  }

  /** Whether this many bytes may be skipped because they aren't checked. */
  canSkip(bytes: number): boolean {
    return this.isOver || bytes <= this.left - this.#rest.length;
  }

  skip(bytes: number): void {
    this.left -= Math.min(this.left, bytes);
    this.position += bytes;
  }

  /** Reads the header of the next unit and sets `left`. @returns the bytes before those; null if more are needed */
  protected abstract beginUnit(bytes: Buffer, at: number): number | null;

  /** Takes bytes of the current unit. */
  protected pass?(bytes: Buffer, start: number, end: number): void;
}

/** A walker that writes the units that it keeps, or replacements for them. */
export abstract class UnitFilter extends UnitWalker {
  #kept: { readonly bytes: Buffer; readonly start: number; end: number }[] = [];
  #writtenBytes = 0;

  /** Including what `push` is about to return. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Takes the next bytes. @returns those to write, in order */
  override push(chunk: Buffer): Buffer[] {
    super.push(chunk);
    const kept = this.#kept;
    this.#kept = [];
    return kept.map(({ bytes, start, end }) =>
      end - start === bytes.length ? bytes : bytes.subarray(start, end),
    );
  }

  /** Writes these bytes. Consecutive ones are written together. */
  protected keep(bytes: Buffer, start = 0, end = bytes.length): void {
    this.#writtenBytes += end - start;
    const last = this.#kept.at(-1);
    if (last?.bytes === bytes && last.end === start) last.end = end;
    else if (end > start) this.#kept.push({ bytes, start, end });
  }
}

/** The bytes don't fit the format of the file. The message says what is wrong. */
export class DamagedMediaError extends Error {
  override name = 'DamagedMediaError';
}

/** Between media: the rest of a spliced frame, plus a margin. */
const maxBetweenMedia = 4 * 1024;
/** At the end: trailers of old programs, without a stated length. */
const maxAtEnd = 16 * 1024;

/** Counts consecutive bytes that belong to no frame or page. Any number of zeros at the end is padding. */
export class StrayBytes {
  #bytes = 0;
  #zeros = 0;

  /** @throws DamagedMediaError when there are too many even for the end of a file */
  add(count: number, areZero: boolean): void {
    this.#bytes += count;
    if (areZero) this.#zeros += count;
    if (this.#bytes - this.#zeros > maxAtEnd) throw new DamagedMediaError('it contains invalid data');
  }

  /** Call when media follows. @throws DamagedMediaError when there were too many before it */
  mediaResumed(): void {
    if (this.#bytes > maxBetweenMedia) throw new DamagedMediaError('it contains invalid data');
    this.#bytes = 0;
    this.#zeros = 0;
  }
}
