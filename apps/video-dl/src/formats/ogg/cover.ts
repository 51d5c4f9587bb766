import type { Cover } from '../cover.js';
import { oggChecksum, readOggCodec } from './pages.js';

const headerBytes = 27;
const serialAt = 14;
const sequenceAt = 18;
const checksumAt = 22;
const maxSegments = 255;
const fullSegment = 255;
const isContinued = 0x01;
/** ffmpeg copies the headers of Vorbis from the source. */
const maxHeaderBytes = 4 * 1024 ** 2;

type Codec = NonNullable<ReturnType<typeof readOggCodec>>['codec'];

/**
 * Adds a cover to the Ogg file of one track that ffmpeg writes, which can't do it itself. The cover
 * is a comment in the second packet. The packet then fills more pages, so we renumber all later ones.
 */
export class OggCover {
  readonly #cover: Cover;
  /** The incomplete page at the end. */
  #rest: Buffer = Buffer.alloc(0);
  #codec: Codec | undefined;
  /** Of the headers after the first page: complete packets, and the parts of the incomplete one. */
  readonly #packets: Buffer[] = [];
  #parts: Buffer[] = [];
  #headerPages = 0;
  #heldBytes = 0;
  #isTagged = false;
  #addedPages = 0;

  constructor(cover: Cover) {
    this.#cover = cover;
  }

  /** Takes the file's next bytes and returns those to send, in whole pages. */
  push(chunk: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const output: Buffer[] = [];
    let at = 0;
    for (let end = endOfPage(bytes, at); end <= bytes.length; end = endOfPage(bytes, at)) {
      output.push(...this.#takePage(bytes.subarray(at, end)));
      at = end;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
    return output;
  }

  #takePage(page: Buffer): readonly Buffer[] {
    if (this.#isTagged) return [this.#addedPages === 0 ? page : renumbered(page, this.#addedPages)];
    if (this.#codec === undefined) {
      this.#codec = readOggCodec(contentOf(page))?.codec;
      // Another codec than we planned: nothing is changed.
      this.#isTagged = this.#codec === undefined;
      return [page];
    }
    this.#hold(page);
    const [comments, ...others] = this.#packets;
    // Vorbis has its codebooks in a third packet.
    const hasAll = comments !== undefined && others.length >= (this.#codec === 'vorbis' ? 1 : 0);
    if (!hasAll) return [];
    const tagged = withComment(comments, this.#codec, pictureComment(this.#cover));
    const pages = pagesOf([tagged, ...others], page.readUInt32LE(serialAt));
    this.#addedPages = pages.length - this.#headerPages;
    this.#packets.length = 0;
    this.#isTagged = true;
    return pages;
  }

  /** Collects the packets of a page. A segment shorter than 255 bytes ends a packet (RFC 3533, 5). */
  #hold(page: Buffer): void {
    this.#headerPages += 1;
    this.#heldBytes += page.length;
    if (this.#heldBytes > maxHeaderBytes) throw new Error(`Ogg headers exceed ${maxHeaderBytes} bytes`);
    const content = Buffer.from(contentOf(page));
    let at = 0;
    for (const size of page.subarray(headerBytes, page.length - content.length)) {
      this.#parts.push(content.subarray(at, at + size));
      at += size;
      if (size === fullSegment) continue;
      this.#packets.push(Buffer.concat(this.#parts));
      this.#parts = [];
    }
  }
}

/** Infinity while the page's header is incomplete. */
function endOfPage(bytes: Buffer, at: number): number {
  if (bytes.length - at < headerBytes) return Infinity;
  const segments = at + headerBytes;
  const contentAt = segments + bytes.readUInt8(at + 26);
  if (bytes.length < contentAt) return Infinity;
  return bytes.subarray(segments, contentAt).reduce((end, size) => end + size, contentAt);
}

function contentOf(page: Buffer): Buffer {
  return page.subarray(headerBytes + page.readUInt8(26));
}

/** Pages of header packets, numbered from 1. */
function pagesOf(packets: readonly Buffer[], serial: number): Buffer[] {
  const sizes = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / fullSegment) }, () => fullSegment),
    length % fullSegment,
  ]);
  const content = Buffer.concat(packets);
  const pages: Buffer[] = [];
  let at = 0;
  for (let first = 0; first < sizes.length; first += maxSegments) {
    const segments = sizes.slice(first, first + maxSegments);
    const end = segments.reduce((sum, size) => sum + size, at);
    const header = Buffer.alloc(headerBytes);
    header.write('OggS', 'latin1');
    header.writeUInt8(sizes[first - 1] === fullSegment ? isContinued : 0, 5);
    // Headers take no time; -1 means that no packet ends on the page.
    header.writeBigInt64LE(segments.some((size) => size < fullSegment) ? 0n : -1n, 6);
    header.writeUInt32LE(serial, serialAt);
    header.writeUInt32LE(pages.length + 1, sequenceAt);
    header.writeUInt8(segments.length, 26);
    pages.push(withChecksum(Buffer.concat([header, Buffer.from(segments), content.subarray(at, end)])));
    at = end;
  }
  return pages;
}

function renumbered(page: Buffer, added: number): Buffer {
  const moved = Buffer.from(page);
  moved.writeUInt32LE(moved.readUInt32LE(sequenceAt) + added, sequenceAt);
  return withChecksum(moved);
}

function withChecksum(page: Buffer): Buffer {
  page.writeUInt32LE(0, checksumAt);
  page.writeUInt32LE(oggChecksum(0, page), checksumAt);
  return page;
}

/** What precedes the list of comments: a name, or for FLAC the header of a metadata block. */
const prefixBytes = { opus: 8, vorbis: 7, flac: 4 } as const satisfies Record<Codec, number>;

/** The packet with one more comment, in front of the others: a vendor, a count, then each comment with its size. */
function withComment(packet: Buffer, codec: Codec, comment: Buffer): Buffer {
  const vendorAt = prefixBytes[codec];
  const countAt = vendorAt + 4 + packet.readUInt32LE(vendorAt);
  const [count, size] = [Buffer.alloc(4), Buffer.alloc(4)];
  count.writeUInt32LE(packet.readUInt32LE(countAt) + 1);
  size.writeUInt32LE(comment.length);
  const parts = [packet.subarray(0, countAt), count, size, comment, packet.subarray(countAt + 4)];
  const longer = Buffer.concat(parts);
  if (codec === 'flac') longer.writeUIntBE(longer.length - vendorAt, 1, 3);
  return longer;
}

const frontCover = 3;

/** A picture block of FLAC (RFC 9639, 8.8) in a comment. Its sizes in pixels may stay unknown. */
function pictureComment({ bytes, mediaType }: Cover): Buffer {
  const number = (value: number) => {
    const word = Buffer.alloc(4);
    word.writeUInt32BE(value);
    return word;
  };
  const name = Buffer.from(mediaType, 'latin1');
  const noDescriptionNoSizes = Buffer.alloc(4 + 4 * 4);
  const block = [number(frontCover), number(name.length), name, noDescriptionNoSizes];
  const picture = Buffer.concat([...block, number(bytes.length), bytes]);
  return Buffer.from(`METADATA_BLOCK_PICTURE=${picture.toString('base64')}`, 'latin1');
}
