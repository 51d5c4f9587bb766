import { readAdtsFrame } from '../adts-frames.js';
import { id3TagBytes, readMp3FrameHeader } from '../mp3-frames.js';
import { StrayBytes } from './stray-bytes.js';
import type { StructureCheck } from './structure-check.js';

/** What has to be there to see what begins: the header of an APE tag is the longest. */
const lookBytes = 32;
/** So many frames in a row are no accident. */
const provingFrames = 3;
/** A file in which no frame has come by then is of another kind than it seemed. */
const maxBeforeFrames = 64 * 1024;

/**
 * Whether MP3 or ADTS frames stand one after the other. Tags may lie anywhere, since
 * joined files have them, and a few stray bytes, since spliced ones do; a frame that
 * follows on another may have another rate. Frames of free format say nothing of
 * their length, so that such a file passes unseen.
 */
export class FrameChain implements StructureCheck {
  readonly #stray = new StrayBytes();
  #rest: Buffer = Buffer.alloc(0);
  /** Of what has begun. */
  #left = 0;
  /** Frames in a row since the last that was none. */
  #chain = 0;
  #chainBytes = 0;
  #hasFrames = false;
  /** In front of the first frames. */
  #bytesBefore = 0;
  #isOver = false;

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (!this.#isOver) {
      const passed = Math.min(this.#left, bytes.length - at);
      this.#left -= passed;
      at += passed;
      if (bytes.length - at < lookBytes) break;
      at += this.#look(bytes, at);
    }
    this.#rest = this.#isOver ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  canSkip(bytes: number): boolean {
    return this.#isOver || bytes <= this.#left - this.#rest.length;
  }

  skip(bytes: number): void {
    this.#left = Math.max(0, this.#left - bytes);
  }

  /** Looks at what begins at `at`. @returns how many bytes are skipped with that */
  #look(bytes: Buffer, at: number): number {
    const frameBytes = frameBytesAt(bytes, at);
    if (frameBytes !== undefined) {
      this.#takeFrame(frameBytes);
      return 0;
    }
    // What only looked like frames was none either.
    if (this.#chain < provingFrames) this.#addStray(this.#chainBytes, false);
    this.#chain = 0;
    this.#chainBytes = 0;
    const first = bytes[at];
    if (isTagLetter(first)) {
      const head = bytes.subarray(at, at + lookBytes);
      this.#left = id3TagBytes(head) || apeTagBytes(head);
      if (this.#left > 0) return 0;
      // A text that stands at the end and does not say how long it is (Lyrics3).
      if (head.toString('latin1', 0, 11) === 'LYRICSBEGIN') this.#isOver = true;
    }
    this.#addStray(1, first === 0);
    return 1;
  }

  #takeFrame(sizeBytes: number): void {
    this.#left = sizeBytes;
    this.#chain += 1;
    this.#chainBytes += sizeBytes;
    if (this.#chain !== provingFrames) return;
    if (this.#hasFrames) this.#stray.settle();
    this.#hasFrames = true;
  }

  #addStray(count: number, areZero: boolean): void {
    if (this.#hasFrames) this.#stray.add(count, areZero);
    else this.#bytesBefore += count;
    if (this.#bytesBefore > maxBeforeFrames) this.#isOver = true;
  }
}

/** Whether `ID3`, `APETAGEX` or `LYRICSBEGIN` may begin with it. */
function isTagLetter(byte: number | undefined): boolean {
  return byte === 0x49 || byte === 0x41 || byte === 0x4c;
}

/** Bytes of the MP3 or ADTS frame at `at`. */
function frameBytesAt(bytes: Buffer, at: number): number | undefined {
  if (bytes[at] !== 0xff) return undefined;
  const mp3 = readMp3FrameHeader(bytes.readUInt32BE(at));
  if (mp3 !== undefined) return mp3.sizeBytes >= 4 ? mp3.sizeBytes : undefined;
  return readAdtsFrame(bytes, at)?.sizeBytes;
}

/** Bytes of an APEv2 tag whose header, or footer, stands here; 0 where none does (wiki.hydrogenaudio.org, APEv2). */
function apeTagBytes(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 8) !== 'APETAGEX') return 0;
  const isHeader = (bytes.readUInt32LE(20) & 0x2000_0000) !== 0;
  return isHeader ? lookBytes + bytes.readUInt32LE(12) : lookBytes;
}
