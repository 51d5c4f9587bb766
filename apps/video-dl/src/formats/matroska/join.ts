import { clusterElements, matroskaIds, readElementHeader, topElements } from './ebml.js';
import type { Joiner, SegmentFacts } from '../joiner.js';
import { damaged, notJoinable } from '../rejection.js';
import { UnitWalker } from '../structure-check.js';

const { header: ebmlHeader, segment, cluster } = matroskaIds;

/** Checks that Matroska or WebM consists of complete elements (RFC 8794). Segments are joined by concatenation. */
export class MatroskaJoiner extends UnitWalker implements Joiner {
  /** Whether a Cluster of unknown size has begun, which is read element by element like a Segment. */
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
    super();
    this.#isOnlySegment = isOnlySegment;
  }

  begin({ initialisation }: SegmentFacts): void {
    this.#hasMedia = false;
    this.#hasInitialisation = initialisation !== null;
    this.#hasHeader = false;
  }

  override push(chunk: Buffer): readonly Buffer[] {
    super.push(chunk);
    return [chunk];
  }

  end(): readonly Buffer[] {
    if (!this.isComplete) throw damaged('a part of it ends in the middle of an element');
    if (!this.#hasMedia) throw damaged('a part of it is empty');
    return [];
  }

  finish(): void {
    // Lengths aren't measured here.
  }

  protected beginUnit(bytes: Buffer, at: number): number | null {
    const header = readElementHeader(bytes, at);
    if (header === undefined) throw damaged("a part of it isn't Matroska");
    if (header === null) return null;
    const { id, size, headerSize } = header;
    const isInCluster = this.#isCluster && clusterElements.has(id);
    if (!isInCluster && !topElements.has(id)) throw damaged("a part of it isn't Matroska");
    this.#hasMedia = true;
    // The first of several files, each with its own header.
    if (id === cluster && this.#hasHeader && !this.#hasInitialisation && !this.#isOnlySegment)
      throw notJoinable('starts again in each part');
    if (id === ebmlHeader) this.#hasHeader = true;
    if (size === null && id !== cluster && id !== segment) throw damaged('a part of it has no end');
    if (!isInCluster) this.#isCluster = id === cluster && size === null;
    this.left = id === segment ? 0 : (size ?? 0);
    return headerSize;
  }
}
