import { type ElementHeader, matroskaIds, maxElementHeaderBytes, readElementHeader } from './ebml.js';
import { DamagedMediaError, type StructureCheck } from '../structure-check.js';

const { header: ebmlHeader, segment, cluster, inSegment, inCluster, anywhere } = matroskaIds;
/** Allowed at the top level and in a Segment. */
const topElements = new Set<number>([ebmlHeader, segment, cluster, ...inSegment, ...anywhere]);
const clusterElements = new Set<number>([...inCluster, ...anywhere]);
/** Consecutive unknown elements that we skip. Garbage has more. */
const maxConsecutiveUnknown = 4;
/** No real file has this many consecutive empty elements. */
const maxConsecutiveEmpty = 4096;

/**
 * Checks that Matroska or WebM is a sequence of elements that fill their Segment and their
 * Clusters. Doesn't check the content of blocks.
 */
export class MatroskaElements implements StructureCheck {
  #header: Buffer = Buffer.alloc(0);
  #position = 0;
  /** Bytes left of the current element's content. */
  #left = 0;
  #segmentEnd = Infinity;
  /** Null outside a Cluster, Infinity in one of unknown size. */
  #clusterEnd: number | null = null;
  #consecutiveUnknown = 0;
  #consecutiveEmpty = 0;
  #isPadding = false;
  /** Nothing after this point is checked. */
  #isOver = false;
  #hasSegment = false;
  readonly #mayBeJoined: boolean;

  /** @param mayBeJoined whether another file may follow, as in one that is sent unchanged. ffmpeg reads only parts of it. */
  constructor(mayBeJoined = false) {
    this.#mayBeJoined = mayBeJoined;
  }

  get statedBytes(): number | undefined {
    return this.#segmentEnd === Infinity ? undefined : this.#segmentEnd;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isOver) {
      const passed = Math.min(this.#left, bytes.length - at);
      if (passed > 0) this.skip(passed);
      at += passed;
      if (at < bytes.length) at = this.#readHeader(bytes, at);
    }
  }

  canSkip(bytes: number): boolean {
    return this.#isOver || bytes <= this.#left;
  }

  skip(bytes: number): void {
    this.#left -= Math.min(this.#left, bytes);
    this.#position += bytes;
  }

  /** @returns where the element's content begins */
  #readHeader(bytes: Buffer, at: number): number {
    const before = this.#header.length;
    if (before === 0) this.#leave();
    if (this.#isOver) return bytes.length;
    if (!this.#isAfterSegment && this.#isPaddingAt(bytes[at])) {
      this.#position += 1;
      return at + 1;
    }
    const header =
      before === 0
        ? readElementHeader(bytes, at)
        : readElementHeader(Buffer.concat([this.#header, bytes.subarray(at, at + maxElementHeaderBytes)]));
    if (header?.id === ebmlHeader && this.#hasSegment && !this.#mayBeJoined) throw isJoined();
    if (this.#isAfterSegment) this.#isOver = header !== null;
    if (this.#isOver) return bytes.length;
    if (header === undefined) throw invalidData();
    if (header === null) {
      this.#header = Buffer.concat([this.#header, bytes.subarray(at)]);
      return bytes.length;
    }
    if (before > 0) this.#header = Buffer.alloc(0);
    this.#position += header.headerSize;
    this.#begin(header);
    return at + header.headerSize - before;
  }

  get #isAfterSegment(): boolean {
    return this.#position >= this.#segmentEnd;
  }

  /** Closes the elements that end here. Players ignore everything after the Segment, except another file. */
  #leave(): void {
    if (this.#clusterEnd !== null && this.#position >= this.#clusterEnd) this.#clusterEnd = null;
    if (this.#isAfterSegment && this.#mayBeJoined) this.#isOver = true;
  }

  /** Zeros after the last element, left by programs that reserve space. */
  #isPaddingAt(byte: number | undefined): boolean {
    if (this.#clusterEnd !== null || this.#header.length > 0) return false;
    if (this.#isPadding && byte !== 0) throw invalidData();
    this.#isPadding = byte === 0;
    return this.#isPadding;
  }

  #begin({ id, size }: ElementHeader): void {
    if (this.#clusterEnd !== null) {
      if (this.#clusterEnd !== Infinity || !topElements.has(id) || clusterElements.has(id)) {
        this.#pass(clusterElements.has(id), size, this.#clusterEnd);
        return;
      }
      this.#clusterEnd = null;
    }
    if (id === segment) {
      this.#segmentEnd = this.#endOf(size);
      this.#hasSegment = true;
    } else if (id === cluster) this.#clusterEnd = this.#endOf(size);
    else {
      this.#pass(topElements.has(id), size, Infinity);
      return;
    }
    this.#consecutiveUnknown = 0;
  }

  #endOf(size: number | null): number {
    return size === null ? Infinity : this.#position + size;
  }

  #pass(isKnown: boolean, size: number | null, parentEnd: number): void {
    this.#consecutiveUnknown = isKnown ? 0 : this.#consecutiveUnknown + 1;
    this.#consecutiveEmpty = size === 0 ? this.#consecutiveEmpty + 1 : 0;
    if (this.#consecutiveEmpty > maxConsecutiveEmpty) throw invalidData();
    if (this.#consecutiveUnknown > maxConsecutiveUnknown || (!isKnown && size === null)) throw invalidData();
    // Valid but unused in practice. Finding its end would need a deeper parse.
    if (size === null) {
      this.#isOver = true;
      return;
    }
    if (this.#position + size > parentEnd) throw invalidData();
    this.#left = size;
  }
}

function isJoined(): DamagedMediaError {
  return new DamagedMediaError('it consists of several files joined into one');
}

function invalidData(): DamagedMediaError {
  return new DamagedMediaError('it contains invalid data');
}
