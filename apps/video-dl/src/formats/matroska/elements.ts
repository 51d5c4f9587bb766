import { clusterElements, type ElementHeader, matroskaIds, readElementHeader, topElements } from './ebml.js';
import { DamagedMediaError, type StructureCheck, UnitWalker } from '../structure-check.js';

const { header: ebmlHeader, segment, cluster } = matroskaIds;
/** Consecutive unknown elements that we skip. Garbage has more. */
const maxConsecutiveUnknown = 4;
/** No real file has this many consecutive empty elements. */
const maxConsecutiveEmpty = 4096;

/**
 * Checks that Matroska or WebM is a sequence of elements that fill their Segment and their
 * Clusters. Doesn't check the content of blocks.
 */
export class MatroskaElements extends UnitWalker implements StructureCheck {
  #segmentEnd = Infinity;
  /** Null outside a Cluster, Infinity in one of unknown size. */
  #clusterEnd: number | null = null;
  #consecutiveUnknown = 0;
  #consecutiveEmpty = 0;
  #isPadding = false;
  #hasSegment = false;
  readonly #mayBeJoined: boolean;

  /** @param mayBeJoined whether another file may follow, as in one that is sent unchanged. ffmpeg reads only parts of it. */
  constructor(mayBeJoined = false) {
    super();
    this.#mayBeJoined = mayBeJoined;
  }

  get statedBytes(): number | undefined {
    return this.#segmentEnd === Infinity ? undefined : this.#segmentEnd;
  }

  protected beginUnit(bytes: Buffer, at: number): number | null {
    if (at >= bytes.length) return null;
    if (this.#clusterEnd !== null && this.position >= this.#clusterEnd) this.#clusterEnd = null;
    // Players ignore everything after the Segment, except another file.
    const isAfterSegment = this.position >= this.#segmentEnd;
    this.isOver = isAfterSegment && this.#mayBeJoined;
    if (this.isOver) return 0;
    if (!isAfterSegment && this.#isPaddingAt(bytes[at])) return 1;
    const header = readElementHeader(bytes, at);
    if (header === null) return null;
    if (header?.id === ebmlHeader && this.#hasSegment && !this.#mayBeJoined)
      throw new DamagedMediaError('it consists of several files joined into one');
    this.isOver = isAfterSegment;
    if (this.isOver) return 0;
    if (header === undefined) throw invalidData();
    this.#begin(header, this.position + header.headerSize);
    return header.headerSize;
  }

  /** Zeros after the last element, left by programs that reserve space. */
  #isPaddingAt(byte: number | undefined): boolean {
    if (this.#clusterEnd !== null) return false;
    if (this.#isPadding && byte !== 0) throw invalidData();
    this.#isPadding = byte === 0;
    return this.#isPadding;
  }

  #begin({ id, size }: ElementHeader, contentAt: number): void {
    const end = size === null ? Infinity : contentAt + size;
    if (this.#clusterEnd !== null) {
      if (this.#clusterEnd !== Infinity || !topElements.has(id) || clusterElements.has(id)) {
        this.#pass(clusterElements.has(id), size, end > this.#clusterEnd);
        return;
      }
      this.#clusterEnd = null;
    }
    if (id === segment) {
      this.#segmentEnd = end;
      this.#hasSegment = true;
    } else if (id === cluster) this.#clusterEnd = end;
    else {
      this.#pass(topElements.has(id), size, false);
      return;
    }
    this.#consecutiveUnknown = 0;
  }

  #pass(isKnown: boolean, size: number | null, isTooLarge: boolean): void {
    this.#consecutiveUnknown = isKnown ? 0 : this.#consecutiveUnknown + 1;
    this.#consecutiveEmpty = size === 0 ? this.#consecutiveEmpty + 1 : 0;
    if (this.#consecutiveEmpty > maxConsecutiveEmpty) throw invalidData();
    if (this.#consecutiveUnknown > maxConsecutiveUnknown || (!isKnown && size === null)) throw invalidData();
    // Valid but unused in practice. Finding its end would need a deeper parse.
    this.isOver = size === null;
    if (size === null) return;
    if (isTooLarge) throw invalidData();
    this.left = size;
  }
}

function invalidData(): DamagedMediaError {
  return new DamagedMediaError('it contains invalid data');
}
