import { matroskaIds, maxElementHeaderBytes, readElementHeader } from '../../containers/ebml.js';
import { damaged, type Joiner, type SegmentFacts } from './joiner.js';

const { header: ebmlHeader, segment, cluster, inSegment, inCluster, anywhere } = matroskaIds;
/** At the top and in a Segment, whose own content is read element by element. Anything else there isn't Matroska. */
const leafElements = new Set<number>([ebmlHeader, cluster, ...inSegment, ...anywhere]);
/** In a Cluster of unknown size. */
const clusterElements = new Set<number>(inCluster);

/** Checks that Matroska or WebM is a row of whole elements (RFC 8794), which is also how its segments are joined. */
export class MatroskaJoiner implements Joiner {
  #header = Buffer.alloc(0);
  #left = 0;
  #isCluster = false;
  #hasMedia = false;
  readonly startSeconds = null;
  /** We don't read its times. */
  readonly firstTimes = { video: null, audio: null, areAllKnown: true };
  readonly lengths = null;

  begin(_facts: SegmentFacts): void {
    this.#hasMedia = false;
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
    if (!this.#hasMedia) throw damaged('a part of the medium is empty');
    return [];
  }

  finish(): void {
    // The length of what has passed is not counted here.
  }

  /** @returns where the element's content begins */
  #readHeader(chunk: Buffer, at: number): number {
    const before = this.#header.length;
    const header =
      before === 0
        ? readElementHeader(chunk, at)
        : readElementHeader(Buffer.concat([this.#header, chunk.subarray(at, at + maxElementHeaderBytes)]));
    if (header === undefined) throw damaged('a part of it is noise');
    if (header === null) {
      this.#header = Buffer.concat([this.#header, chunk.subarray(at)]);
      return chunk.length;
    }
    const { id, size, headerSize } = header;
    const isInCluster = this.#isCluster && clusterElements.has(id);
    if (!isInCluster && id !== segment && !leafElements.has(id)) throw damaged('a part of it is noise');
    if (before > 0) this.#header = Buffer.alloc(0);
    this.#hasMedia = true;
    if (size === null && id !== cluster && id !== segment) throw damaged('a part of it has no end');
    if (!isInCluster) this.#isCluster = id === cluster && size === null;
    this.#left = id === segment ? 0 : (size ?? 0);
    return at + headerSize - before;
  }
}
