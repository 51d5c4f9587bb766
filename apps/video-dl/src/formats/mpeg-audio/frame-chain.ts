import { apeTagBytes, id3TagBytes, readMp3FrameHeader } from './frames.js';
import { StrayBytes, UnitCheck } from '../structure-check.js';

/** Bytes needed to recognise the next item; the APE tag header is the longest. */
const lookaheadBytes = 32;
/** Consecutive frames needed to rule out coincidence. */
const minChainFrames = 3;
/** A file without frames in this many bytes has a different format after all. */
const maxBeforeFrames = 64 * 1024;

const adtsSampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/**
 * Checks that MP3 or ADTS frames follow each other. Allows tags anywhere (joined files have
 * them), a few stray bytes (spliced files do), and changes of the bit or sample rate.
 * Free-format frames don't state their length, so such files aren't checked.
 */
export class FrameChain extends UnitCheck {
  readonly #stray = new StrayBytes();
  /** Consecutive frames so far. */
  #chain = 0;
  #chainBytes = 0;
  #hasFrames = false;
  /** Bytes before the first frames. */
  #bytesBefore = 0;
  readonly #format = new FormatWatch();
  readonly changed = new Set<'audio'>();

  /** Reads the header of the next frame or tag. @returns how many stray bytes to skip */
  protected begin(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < lookaheadBytes) return null;
    const frame = frameAt(bytes, at);
    if (frame !== undefined) {
      this.#takeFrame(frame);
      return 0;
    }
    // Too few to be real frames.
    if (this.#chain < minChainFrames) this.#addStray(this.#chainBytes, false);
    this.#chain = 0;
    this.#chainBytes = 0;
    const first = bytes[at];
    if (isTagLetter(first)) {
      const head = bytes.subarray(at, at + lookaheadBytes);
      this.left = id3TagBytes(head) || apeTagBytes(head);
      if (this.left > 0) return 0;
      // Lyrics3: text at the end of the file, without a stated length.
      if (head.toString('latin1', 0, 11) === 'LYRICSBEGIN') this.isOver = true;
    }
    this.#addStray(1, first === 0);
    return 1;
  }

  #takeFrame({ sizeBytes, format }: Frame): void {
    this.left = sizeBytes;
    this.#chain += 1;
    this.#chainBytes += sizeBytes;
    if (this.#chain >= minChainFrames && this.#format.hasChanged(format)) this.changed.add('audio');
    if (this.#chain !== minChainFrames) return;
    if (this.#hasFrames) this.#stray.mediaResumed();
    this.#hasFrames = true;
  }

  #addStray(count: number, areZero: boolean): void {
    if (this.#hasFrames) this.#stray.add(count, areZero);
    else this.#bytesBefore += count;
    if (this.#bytesBefore > maxBeforeFrames) this.isOver = true;
  }
}

/** A damaged header alone may state another format. */
const changedFrames = 3;

/** Compares the formats of ADTS frames with the first one. */
export class FormatWatch {
  #first: number | undefined;
  #last: number | undefined;
  #others = 0;

  /** @param format of the next frame; undefined if it has none */
  hasChanged(format: number | undefined): boolean {
    this.#first ??= format;
    this.#others = format === this.#last ? this.#others + 1 : 1;
    this.#last = format;
    return format !== this.#first && this.#others >= changedFrames;
  }
}

/** Whether it is the first letter of `ID3`, `APETAGEX` or `LYRICSBEGIN`. */
function isTagLetter(byte: number | undefined): boolean {
  return byte === 0x49 || byte === 0x41 || byte === 0x4c;
}

interface Frame {
  readonly sizeBytes: number;
  /** Of ADTS. */
  readonly format?: number;
}

/** The MP3 or ADTS frame at `at`. */
function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (bytes[at] !== 0xff) return undefined;
  const mp3 = readMp3FrameHeader(bytes.readUInt32BE(at));
  if (mp3 !== undefined) return mp3.sizeBytes >= 4 ? { sizeBytes: mp3.sizeBytes } : undefined;
  return readAdtsFrame(bytes, at) ?? undefined;
}

export interface AdtsFrame {
  /** Header included. */
  readonly sizeBytes: number;
  readonly seconds: number;
  /** Sample rate and channels, as a number to compare. */
  readonly format: number;
}

/** Parses the ADTS header at `at` (ISO 14496-3, 1.A.2.2); null if the seven bytes there aren't one. */
export function readAdtsFrame(bytes: Buffer, at = 0): AdtsFrame | null {
  if ((bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return null;
  const rate = adtsSampleRates[(bytes.readUInt8(at + 2) >> 2) & 15];
  const sizeBytes = ((bytes.readUInt8(at + 3) & 3) << 11) | (bytes.readUInt16BE(at + 4) >> 5);
  const blocks = (bytes.readUInt8(at + 6) & 3) + 1;
  const format = bytes.readUInt16BE(at + 2) & 0x3dc0;
  return rate === undefined || sizeBytes < 7 ? null : { sizeBytes, seconds: (1024 * blocks) / rate, format };
}
