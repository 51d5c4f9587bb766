import { crc32 } from '../crc32.js';
import { DamagedMediaError, StrayBytes, type StructureCheck, UnitWalker } from '../structure-check.js';

const fixedHeaderBytes = 27;
const checksumAt = 22;

/** A page (RFC 3533, 6). */
export interface OggPage {
  readonly flags: number;
  /** Ticks up to the end of the last packet that ends here; negative if none does. */
  readonly granule: number;
  readonly serial: number;
  readonly sequence: number;
  readonly sizeBytes: number;
  readonly content: Buffer;
}

/** The page at `at`; its content may be cut off. Null if its header is incomplete, undefined if no page begins there. */
export function readOggPage(bytes: Buffer, at = 0): OggPage | null | undefined {
  if (bytes.length - at < fixedHeaderBytes) return null;
  if (bytes.readUInt32BE(at) !== 0x4f676753 || bytes.readUInt8(at + 4) !== 0) return undefined;
  const contentAt = at + fixedHeaderBytes + bytes.readUInt8(at + 26);
  if (bytes.length < contentAt) return null;
  const sizes = bytes.subarray(at + fixedHeaderBytes, contentAt);
  const end = sizes.reduce((sum, size) => sum + size, contentAt);
  return {
    flags: bytes.readUInt8(at + 5),
    granule: Number(bytes.readBigInt64LE(at + 6)),
    serial: bytes.readUInt32LE(at + 14),
    sequence: bytes.readUInt32LE(at + 18),
    sizeBytes: end - at,
    content: bytes.subarray(contentAt, end),
  };
}

/** Checks that Ogg pages follow each other and match their checksums (RFC 3533, 6). */
export class OggPages extends UnitWalker implements StructureCheck {
  readonly #stray = new StrayBytes();
  /** Of the current page. */
  #parts: Buffer[] = [];
  #clock: OggClock | undefined;
  /** Of the last page that ends a packet. */
  #granule = 0;
  readonly #onPage: (page: OggPage) => void;

  constructor(onPage: (page: OggPage) => void = () => undefined) {
    super();
    this.#onPage = onPage;
  }

  /** Length of the audio so far; 0 unless the codec is Opus, Vorbis or FLAC. */
  get audioSeconds(): number {
    const { rate, lead } = this.#clock ?? { rate: Infinity, lead: 0 };
    return Math.max(0, this.#granule - lead) / rate;
  }

  protected beginUnit(bytes: Buffer, at: number): number | null {
    const page = readOggPage(bytes, at);
    if (page === null) return null;
    if (page === undefined) {
      this.#stray.add(1, bytes.readUInt8(at) === 0);
      return 1;
    }
    this.#stray.mediaResumed();
    this.left = page.sizeBytes;
    return 0;
  }

  protected override pass(bytes: Buffer, start: number, end: number): void {
    this.#parts.push(bytes.subarray(start, end));
    if (this.left > 0) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    const page = readOggPage(whole);
    if (!page) throw new Error('a page is read from its beginning');
    if (oggChecksum(whole) !== whole.readUInt32LE(checksumAt))
      throw new DamagedMediaError('a page of it has a wrong checksum');
    // The first page of a stream has its first packet, and nothing else.
    this.#clock ??= readOggCodec(page.content);
    if (page.granule > 0) this.#granule = page.granule;
    this.#onPage(page);
  }

  override canSkip(): boolean {
    return false;
  }
}

/** How a codec counts its samples in Ogg. */
export interface OggClock {
  readonly codec: 'opus' | 'vorbis' | 'flac';
  /** Samples per second. */
  readonly rate: number;
  /** Samples before time zero. */
  readonly lead: number;
}

/**
 * The codec in the first packet of an Ogg stream: Opus (RFC 7845, 5.1), Vorbis (4.2.2) or
 * FLAC (RFC 9639, 10.1); undefined for other codecs and while bytes are missing.
 */
export function readOggCodec(packet: Buffer): OggClock | undefined {
  const name = packet.toString('latin1', 0, 8);
  if (name === 'OpusHead' && packet.length >= 12)
    return { codec: 'opus', rate: 48_000, lead: packet.readUInt16LE(10) };
  const rateOf = (codec: OggClock['codec'], rate: number) =>
    rate === 0 ? undefined : { codec, rate, lead: 0 };
  if (name.startsWith('\u0001vorbis') && packet.length >= 16)
    return rateOf('vorbis', packet.readUInt32LE(12));
  // The sample rate is the 20 bits after the first ten bytes of the stream information.
  if (name.startsWith('\u007fFLAC') && packet.length >= 30)
    return rateOf('flac', packet.readUIntBE(27, 3) >>> 4);
  return undefined;
}

const noChecksum = Buffer.alloc(4);

/** The checksum of a page, which is that of a page without one. */
function oggChecksum(page: Buffer): number {
  const before = crc32(noChecksum, crc32(page.subarray(0, checksumAt), 0));
  return crc32(page.subarray(checksumAt + noChecksum.length), before);
}
