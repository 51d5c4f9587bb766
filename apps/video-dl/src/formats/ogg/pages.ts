import { DamagedMediaError, StrayBytes, type StructureCheck } from '../structure-check.js';

const fixedHeaderBytes = 27;
const granuleAt = 6;
const checksumAt = 22;
/** Bytes of the first page that identify the codec. */
const identificationBytes = 64;

/** Fields of a page header (RFC 3533, 6). */
export interface OggPage {
  readonly flags: number;
  readonly serial: number;
  readonly sequence: number;
}

/** Checks that Ogg pages follow each other and match their checksums (RFC 3533, 6). */
export class OggPages implements StructureCheck {
  readonly #stray = new StrayBytes();
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes left of the page's content. */
  #left = 0;
  #checksum = 0;
  #stated = 0;
  #identification = Buffer.alloc(0);
  #clock: OggClock | undefined;
  /** Granule position of the last page that ends a packet. */
  #granule = 0;

  readonly #onPage: (page: OggPage) => void;

  /** @param onPage called with each page once its header has arrived */
  constructor(onPage: (page: OggPage) => void = () => undefined) {
    this.#onPage = onPage;
  }

  /** Length of the audio so far; 0 unless the codec is Opus, Vorbis or FLAC. */
  get audioSeconds(): number {
    const { rate, lead } = this.#clock ?? { rate: Infinity, lead: 0 };
    return Math.max(0, this.#granule - lead) / rate;
  }

  /** Whether the last page is complete. */
  get isComplete(): boolean {
    return this.#left === 0 && this.#rest.length === 0;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (;;) {
      const passed = Math.min(this.#left, bytes.length - at);
      if (passed > 0) this.#takeContent(bytes.subarray(at, at + passed));
      at += passed;
      if (bytes.length - at < fixedHeaderBytes) break;
      const headerBytes = fixedHeaderBytes + bytes.readUInt8(at + 26);
      if (!isPage(bytes, at)) {
        this.#stray.add(1, bytes.readUInt8(at) === 0);
        at += 1;
      } else if (bytes.length - at < headerBytes) break;
      else {
        this.#begin(bytes.subarray(at, at + headerBytes));
        at += headerBytes;
      }
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }

  canSkip(): boolean {
    return false;
  }

  skip(): void {
    throw new Error('Ogg pages cannot be skipped');
  }

  #begin(header: Buffer): void {
    this.#stray.mediaResumed();
    this.#onPage({
      flags: header.readUInt8(5),
      serial: header.readUInt32LE(14),
      sequence: header.readUInt32LE(18),
    });
    this.#stated = header.readUInt32LE(checksumAt);
    // -1 means that no packet ends on this page.
    const granule = header.readBigInt64LE(granuleAt);
    if (granule > 0n) this.#granule = Number(granule);
    const blank = Buffer.from(header);
    blank.writeUInt32LE(0, checksumAt);
    this.#checksum = oggChecksum(0, blank);
    this.#left = header.subarray(fixedHeaderBytes).reduce((sum, lacing) => sum + lacing, 0);
    if (this.#left === 0) this.#end();
  }

  #takeContent(bytes: Buffer): void {
    this.#checksum = oggChecksum(this.#checksum, bytes);
    this.#identify(bytes);
    this.#left -= bytes.length;
    if (this.#left === 0) this.#end();
  }

  #identify(bytes: Buffer): void {
    const missing = identificationBytes - this.#identification.length;
    if (missing <= 0) return;
    this.#identification = Buffer.concat([this.#identification, bytes.subarray(0, missing)]);
    this.#clock ??= readOggCodec(this.#identification);
  }

  #end(): void {
    if (this.#checksum !== this.#stated) throw new DamagedMediaError('a page of it has a wrong checksum');
  }
}

/** How a codec counts its samples in Ogg. */
interface OggClock {
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

function isPage(bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === 0x4f676753 && bytes.readUInt8(at + 4) === 0;
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value < 0 ? (value << 1) ^ 0x04c1_1db7 : value << 1;
  return value;
});

/** CRC-32 with the generator 0x04c11db7, most significant bit first. */
export function oggChecksum(before: number, bytes: Buffer): number {
  let value = before;
  for (const byte of bytes) value = (value << 8) ^ (table[(value >>> 24) ^ byte] ?? 0);
  return value >>> 0;
}
