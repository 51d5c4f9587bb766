import { matroskaIds, maxElementHeaderBytes, readElementHeader } from './ebml.js';
import type { Joiner, SegmentFacts } from '../joiner.js';
import { damaged, notJoinable } from '../rejection.js';

const { header: ebmlHeader, segment, cluster, inSegment, inCluster, anywhere } = matroskaIds;
/** Allowed at the top level and in a Segment, which is read element by element. Anything else isn't Matroska. */
const leafElements = new Set<number>([ebmlHeader, cluster, ...inSegment, ...anywhere]);
/** Allowed in a Cluster of unknown size. */
const clusterElements = new Set<number>(inCluster);

/** Checks that Matroska or WebM consists of complete elements (RFC 8794). Segments are joined by concatenation. */
export class MatroskaJoiner implements Joiner {
  #header = Buffer.alloc(0);
  #left = 0;
  #isCluster = false;
  #hasMedia = false;
  readonly #isOnlySegment: boolean;
  #hasInitialisation = false;
  /** Whether the header is part of this segment, instead of one before it. */
  #hasHeader = false;
  readonly startSeconds = null;
  /** Timestamps aren't read. */
  readonly firstTimes = { video: null, audio: null, areAllKnown: true };
  readonly lengths = null;

  /** @param isOnlySegment the list has a single file */
  constructor(isOnlySegment: boolean) {
    this.#isOnlySegment = isOnlySegment;
  }

  begin({ initialisation }: SegmentFacts): void {
    this.#hasMedia = false;
    this.#hasInitialisation = initialisation !== null;
    this.#hasHeader = false;
  }

  push(chunk: Buffer): readonly Buffer[] {
    let at = 0;
    while (at < chunk.length) {
      const skipped = Math.min(this.#left, chunk.length - at);
      this.#left -= skipped;
      at += skipped;
      if (at < chunk.length) at = this.#readHeader(chunk, at);
    }
    return [chunk];
  }

  end(): readonly Buffer[] {
    if (this.#left > 0 || this.#header.length > 0)
      throw damaged('a part of it ends in the middle of an element');
    if (!this.#hasMedia) throw damaged('a part of it is empty');
    return [];
  }

  finish(): void {
    // Lengths aren't measured here.
  }

  /** @returns where the element's content begins */
  #readHeader(chunk: Buffer, at: number): number {
    const before = this.#header.length;
    const header =
      before === 0
        ? readElementHeader(chunk, at)
        : readElementHeader(Buffer.concat([this.#header, chunk.subarray(at, at + maxElementHeaderBytes)]));
    if (header === undefined) throw damaged("a part of it isn't Matroska");
    if (header === null) {
      this.#header = Buffer.concat([this.#header, chunk.subarray(at)]);
      return chunk.length;
    }
    const { id, size, headerSize } = header;
    const isInCluster = this.#isCluster && clusterElements.has(id);
    if (!isInCluster && id !== segment && !leafElements.has(id)) throw damaged("a part of it isn't Matroska");
    if (before > 0) this.#header = Buffer.alloc(0);
    this.#hasMedia = true;
    // The first of several files, each with its own header.
    if (id === cluster && this.#hasHeader && !this.#hasInitialisation && !this.#isOnlySegment)
      throw notJoinable('starts again in each part');
    if (id === ebmlHeader) this.#hasHeader = true;
    if (size === null && id !== cluster && id !== segment) throw damaged('a part of it has no end');
    if (!isInCluster) this.#isCluster = id === cluster && size === null;
    this.#left = id === segment ? 0 : (size ?? 0);
    return at + headerSize - before;
  }
}
