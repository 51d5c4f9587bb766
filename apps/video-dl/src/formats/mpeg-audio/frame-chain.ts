import {
  apeTagBytes,
  type AudioFrame,
  FormatWatch,
  frameAt,
  id3TagBytes,
  minChainFrames,
  readMp3FrameHeader,
} from './frames.js';
import { readXingHeader } from './info-frame.js';
import { maxOverstatedBytes, StrayBytes, type StructureCheck, UnitWalker } from '../structure-check.js';

/** Bytes needed to recognise the next item: an APE tag header is the longest, except for a file's first frame. */
const lookaheadBytes = 32;
const firstFrameBytes = 64;
/** The first letters of `ID3` and `APETAGEX`. */
const tagLetters: readonly (number | undefined)[] = [0x49, 0x41];
/** A file without frames in this many bytes has a different format after all. */
const maxBeforeFrames = 64 * 1024;

/**
 * Checks that MP3 or ADTS frames follow each other. Allows tags anywhere (joined files have
 * them), a few stray bytes (spliced files do), and changes of the bit or sample rate.
 * Free-format frames don't state their length, so such files aren't checked.
 */
export class FrameChain extends UnitWalker implements StructureCheck {
  readonly #stray = new StrayBytes();
  /** Consecutive frames so far. */
  #chain = 0;
  #chainBytes = 0;
  #hasFrames = false;
  /** Bytes before the first frames. */
  #bytesBefore = 0;
  readonly #format = new FormatWatch();
  readonly changes = { changesAudio: false };
  minBytes: number | undefined;

  /** Reads the header of the next frame or tag. @returns how many stray bytes to skip */
  protected beginUnit(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < (this.#hasFrames ? lookaheadBytes : firstFrameBytes)) return null;
    const frame = frameAt(bytes, at);
    if (frame !== undefined) {
      if (!this.#hasFrames) this.#takeStatedBytes(bytes.subarray(at, at + firstFrameBytes));
      this.#takeFrame(frame);
      return 0;
    }
    // Too few to be real frames.
    if (this.#chain < minChainFrames) this.#addStray(this.#chainBytes, false);
    this.#chain = 0;
    this.#chainBytes = 0;
    const first = bytes[at];
    if (tagLetters.includes(first)) {
      const head = bytes.subarray(at, at + lookaheadBytes);
      this.left = id3TagBytes(head) || apeTagBytes(head);
      if (this.left > 0) return 0;
    }
    this.#addStray(1, first === 0);
    return 1;
  }

  #takeStatedBytes(frame: Buffer): void {
    const stated = readXingHeader(frame)?.bytes;
    if (stated !== undefined) this.minBytes ??= this.position + stated - maxOverstatedBytes;
  }

  #takeFrame({ sizeBytes, format }: AudioFrame): void {
    this.left = sizeBytes;
    this.#chain += 1;
    this.#chainBytes += sizeBytes;
    if (this.#chain >= minChainFrames && this.#format.hasChanged(format)) this.changes.changesAudio = true;
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

/** Measures the length of an MP3 stream. Bytes between frames are skipped and counted. */
export class Mp3FrameCounter extends UnitWalker {
  seconds = 0;
  frames = 0;
  strayBytes = 0;

  protected beginUnit(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < 4) return null;
    const header = readMp3FrameHeader(bytes.readUInt32BE(at));
    if (header === undefined) {
      this.strayBytes += 1;
      return 1;
    }
    this.left = header.sizeBytes;
    this.frames += 1;
    this.seconds += header.samples / header.sampleRate;
    return 0;
  }
}
