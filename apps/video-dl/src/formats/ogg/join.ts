import { OggPages, type OggPage } from './pages.js';
import { DamagedMediaError } from '../structure-check.js';
import type { Joiner, SegmentFacts } from '../joiner.js';
import { damaged, notJoinable } from '../rejection.js';

const isFirstPage = 0x02;
const isLastPage = 0x04;
const maxStreams = 16;

/**
 * Checks that the segments are slices of one Ogg stream, as SoundCloud serves Opus. Pages are
 * numbered and the last one is marked (RFC 3533, 6), which reveals missing parts.
 */
export class OggJoiner implements Joiner {
  readonly #pages = new OggPages((page) => this.#takePage(page));
  /** Number of the next page, keyed by stream. */
  readonly #next = new Map<number, number>();
  readonly #unfinished = new Set<number>();
  #hasMedia = false;
  #hasBytes = false;
  readonly startSeconds = null;
  readonly firstTimes = { video: null, audio: null, areAllKnown: true };
  readonly isOneStream = true;
  readonly lengths = null;

  begin(_facts: SegmentFacts): void {
    this.#hasBytes = false;
  }

  push(chunk: Buffer): readonly Buffer[] {
    this.#hasBytes ||= chunk.length > 0;
    try {
      this.#pages.push(chunk);
    } catch (error) {
      throw error instanceof DamagedMediaError ? damaged(error.message) : error;
    }
    return [chunk];
  }

  /** A page may continue in the next segment. */
  end(): readonly Buffer[] {
    if (!this.#hasBytes) throw damaged('a part of it is empty');
    return [];
  }

  finish(): void {
    if (this.#unfinished.size > 0 || !this.#pages.isComplete) throw damaged('its end is missing');
  }

  #takePage({ flags, serial, sequence }: OggPage): void {
    if ((flags & isFirstPage) !== 0) {
      if (this.#hasMedia) throw notJoinable('starts again in each part');
      if (this.#next.size >= maxStreams) throw damaged('it has too many streams');
      this.#unfinished.add(serial);
    } else {
      this.#hasMedia = true;
      const expected = this.#next.get(serial);
      if (expected === undefined) throw damaged('its beginning is missing');
      if (sequence !== expected) throw damaged('a part of it is missing');
    }
    this.#next.set(serial, (sequence + 1) >>> 0);
    if ((flags & isLastPage) !== 0) this.#unfinished.delete(serial);
  }
}
