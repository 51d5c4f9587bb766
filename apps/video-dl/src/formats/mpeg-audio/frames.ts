/** MPEG audio layer III bit rates in kbit/s by index: MPEG-1, and MPEG-2 and 2.5 (ISO 11172-3, 13818-3). */
const bitratesV1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const bitratesV2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const sampleRatesV1 = [44_100, 48_000, 32_000];

export interface Mp3FrameHeader {
  sizeBytes: number;
  samples: number;
  sampleRate: number;
}

/** Parses a layer III frame header; undefined if the four bytes aren't one. */
export function readMp3FrameHeader(word: number): Mp3FrameHeader | undefined {
  const versionBits = (word >>> 19) & 3;
  const layerBits = (word >>> 17) & 3;
  const bitrateIndex = (word >>> 12) & 15;
  if (word >>> 21 !== 0x7ff || versionBits === 1 || layerBits !== 1) return undefined;
  const isMpeg1 = versionBits === 3;
  const bitrate = (isMpeg1 ? bitratesV1 : bitratesV2)[bitrateIndex];
  const baseRate = sampleRatesV1[(word >>> 10) & 3];
  if (!bitrate || baseRate === undefined) return undefined;
  // MPEG-2 halves the sample rate, 2.5 quarters it.
  const sampleRate = baseRate / (isMpeg1 ? 1 : versionBits === 2 ? 2 : 4);
  const samples = isMpeg1 ? 1152 : 576;
  const sizeBytes = Math.floor((samples / 8) * ((bitrate * 1000) / sampleRate)) + ((word >>> 9) & 1);
  return { sizeBytes, samples, sampleRate };
}

/** A frame of MP3 or ADTS. */
export interface AudioFrame {
  readonly codec: 'mp3' | 'aac';
  /** Header included. */
  readonly sizeBytes: number;
  readonly seconds: number;
  /** Sample rate and channels of ADTS, where they may change, as a number to compare. */
  readonly format?: number;
}

const adtsSampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** Parses the ADTS header at `at` (ISO 14496-3, 1.A.2.2); undefined if the seven bytes there aren't one. */
export function readAdtsFrame(bytes: Buffer, at = 0): AudioFrame | undefined {
  if ((bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return undefined;
  const rate = adtsSampleRates[(bytes.readUInt8(at + 2) >> 2) & 15];
  const sizeBytes = ((bytes.readUInt8(at + 3) & 3) << 11) | (bytes.readUInt16BE(at + 4) >> 5);
  const blocks = (bytes.readUInt8(at + 6) & 3) + 1;
  const format = bytes.readUInt16BE(at + 2) & 0x3dc0;
  if (rate === undefined || sizeBytes < 7) return undefined;
  return { codec: 'aac', sizeBytes, seconds: (1024 * blocks) / rate, format };
}

/** Enough for the header of either format. */
export const frameHeaderBytes = 7;

/** The frame at `at`; undefined if none begins there, or its header is incomplete. */
export function frameAt(bytes: Buffer, at: number): AudioFrame | undefined {
  if (bytes[at] !== 0xff || bytes.length - at < frameHeaderBytes) return undefined;
  const mp3 = readMp3FrameHeader(bytes.readUInt32BE(at));
  if (mp3 !== undefined)
    return { codec: 'mp3', sizeBytes: mp3.sizeBytes, seconds: mp3.samples / mp3.sampleRate };
  return readAdtsFrame(bytes, at);
}

/** Consecutive frames needed to rule out coincidence. */
export const minChainFrames = 3;

/** The codec of the frames that these bytes start with; null without enough of one length in time. */
export function codecOfFrames(bytes: Buffer): AudioFrame['codec'] | null {
  const first = frameAt(bytes, 0);
  let next = first;
  let at = 0;
  for (let count = 1; count < minChainFrames && next !== undefined; count += 1) {
    at += next.sizeBytes;
    next = frameAt(bytes, at);
    if (next?.codec !== first?.codec || next?.seconds !== first?.seconds) return null;
  }
  return next === undefined ? null : next.codec;
}

/** A damaged header alone may state another format. */
const changedFrames = 3;

/** Compares the formats of ADTS frames with the first one. */
export class FormatWatch {
  first: number | undefined;
  #last: number | undefined;
  #others = 0;

  /** @param format of the next frame; undefined if it has none */
  hasChanged(format: number | undefined): boolean {
    this.first ??= format;
    this.#others = format === this.#last ? this.#others + 1 : 1;
    this.#last = format;
    return format !== this.first && this.#others >= changedFrames;
  }
}

const id3HeaderBytes = 10;

/** Size of the ID3v2 tag at the start of a file in bytes; 0 without a tag (id3.org/id3v2.4.0-structure, 3.1). */
export function id3TagBytes(start: Buffer): number {
  if (start.length < id3HeaderBytes || start.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (start.readUInt8(at) & 0x7f), 0);
  const hasFooter = (start.readUInt8(5) & 0x10) !== 0;
  return id3HeaderBytes + size + (hasFooter ? id3HeaderBytes : 0);
}

const apeHeaderBytes = 32;

/** Size of the APEv2 tag whose header or footer starts here; 0 if none does (wiki.hydrogenaudio.org, APEv2). */
export function apeTagBytes(bytes: Buffer): number {
  if (bytes.length < apeHeaderBytes || bytes.toString('latin1', 0, 8) !== 'APETAGEX') return 0;
  const isHeader = (bytes.readUInt32LE(20) & 0x2000_0000) !== 0;
  return isHeader ? apeHeaderBytes + bytes.readUInt32LE(12) : apeHeaderBytes;
}
