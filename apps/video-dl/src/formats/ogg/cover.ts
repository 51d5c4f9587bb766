import type { Cover } from '../cover.js';
import { checksumAt, type OggClock, oggChecksum, type OggPage, readOggCodec } from './pages.js';

const headerBytes = 27;
const sequenceAt = 18;
const maxSegments = 255;
const fullSegment = 255;
const isContinued = 0x01;
/** ffmpeg copies the headers of Vorbis from the source. */
const maxHeaderBytes = 4 * 1024 ** 2;

type Codec = OggClock['codec'];

/**
 * Adds a cover to the Ogg file of one track that ffmpeg writes, which can't do it itself. The cover
 * is a comment in the second packet. The packet then fills more pages, so we renumber all later ones.
 */
export class OggCover {
  readonly #cover: Cover;
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

  /** Takes the file's next page and returns the pages to send. */
  push(page: OggPage, bytes: Buffer): readonly Buffer[] {
    if (this.#isTagged) return [this.#addedPages === 0 ? bytes : renumbered(bytes, this.#addedPages)];
    if (this.#codec === undefined) {
      this.#codec = readOggCodec(page.content)?.codec;
      // Another codec than we planned: nothing is changed.
      this.#isTagged = this.#codec === undefined;
      return [bytes];
    }
    this.#hold(page);
    const [comments, ...others] = this.#packets;
    // Vorbis has its codebooks in a third packet.
    const hasAll = comments !== undefined && others.length >= (this.#codec === 'vorbis' ? 1 : 0);
    if (!hasAll) return [];
    const tagged = withComment(comments, this.#codec, pictureComment(this.#cover));
    const pages = pagesOf([tagged, ...others], page.serial);
    this.#addedPages = pages.length - this.#headerPages;
    this.#packets.length = 0;
    this.#isTagged = true;
    return pages;
  }

  /** Collects the packets of a page. A segment shorter than 255 bytes ends a packet (RFC 3533, 5). */
  #hold({ sizeBytes, lacing, content }: OggPage): void {
    this.#headerPages += 1;
    this.#heldBytes += sizeBytes;
    if (this.#heldBytes > maxHeaderBytes) throw new Error(`Ogg headers exceed ${maxHeaderBytes} bytes`);
    let at = 0;
    for (const size of lacing) {
      this.#parts.push(content.subarray(at, at + size));
      at += size;
      if (size === fullSegment) continue;
      this.#packets.push(Buffer.concat(this.#parts));
      this.#parts = [];
    }
  }
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
    header.writeUInt32LE(serial, 14);
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
  page.writeUInt32LE(oggChecksum(page), checksumAt);
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
