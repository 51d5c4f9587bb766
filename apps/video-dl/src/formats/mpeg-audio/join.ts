import { type AudioFrame, FormatWatch, frameAt, frameHeaderBytes, id3TagBytes } from './frames.js';
import { readXingHeader } from './info-frame.js';
import type { FirstTimes, Joiner, SegmentFacts, TrackLengths } from '../joiner.js';
import { damaged } from '../rejection.js';
import { UnitFilter } from '../structure-check.js';
import { Timeline } from '../timeline.js';

const maxTagBytes = 1024 ** 2;
const maxReadTagBytes = 4 * 1024;
/** Bytes needed to tell a file's first MP3 frame, which counts the others, from audio. */
const infoHeaderBytes = 64;
const tagHeaderBytes = 10;
/** Of `ID3`. */
const tagLetter = 0x49;
const clockRate = 90_000;
/** Owner of the ID3 frame that places packed audio in time (RFC 8216, 3.4). */
const timestampOwner = 'com.apple.streaming.transportStreamTimestamp\0';

type Frame = Omit<AudioFrame, 'codec'>;

/**
 * Joins packed audio (RFC 8216, 3.4): consecutive frames of ADTS, MP3, AC-3 or E-AC-3.
 * Removes the ID3 tag before each segment, and an MP3 frame that only describes the segment.
 */
export class PackedAudioJoiner extends UnitFilter implements Joiner {
  readonly #timeline = new Timeline(false);
  /** The beginning of the current tag; null in a frame. */
  #tag: Buffer | null = null;
  startSeconds: number | null = null;
  /** Duration of the frames so far, which have no timestamps. */
  #seconds = 0;
  #isFirst = true;
  #hasFrames = false;
  readonly #format = new FormatWatch();
  readonly changes = { changesAudio: false };

  get firstTimes(): FirstTimes {
    return { video: null, audio: this.startSeconds, areAllKnown: this.#hasFrames };
  }

  get lengths(): TrackLengths {
    return { video: null, audio: this.#seconds };
  }

  begin(facts: SegmentFacts): void {
    this.#timeline.beginSegment(facts);
    this.#hasFrames = false;
  }

  end(): readonly Buffer[] {
    if (!this.isComplete) throw damaged('a part of it ends in the middle of a frame');
    if (!this.#hasFrames) throw damaged('a part of it is empty');
    this.#timeline.endSegment();
    this.#isFirst = false;
    return [];
  }

  finish(): void {
    this.#timeline.finish();
  }

  protected beginUnit(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < neededBytes(bytes, at, !this.#hasFrames)) return null;
    const frame = frameAt(bytes, at) ?? readAc3(bytes, at);
    const isTag = bytes[at] === tagLetter;
    const isInfo = !this.#hasFrames && readXingHeader(bytes.subarray(at, at + infoHeaderBytes)) !== undefined;
    this.left = isTag ? id3TagBytes(bytes.subarray(at, at + tagHeaderBytes)) : (frame?.sizeBytes ?? 0);
    this.#tag = isInfo || isTag ? Buffer.alloc(0) : null;
    if (this.#tag === null) this.#beginFrame(frame);
    else if (this.left > maxTagBytes) throw damaged('a tag in it is too large');
    else if (this.left === 0) throw damaged("a part of it isn't audio");
    return 0;
  }

  protected override pass(bytes: Buffer, start: number, end: number): void {
    if (this.#tag === null) {
      this.keep(bytes, start, end);
      return;
    }
    // The timestamp is at the beginning; an image after it isn't needed.
    const room = maxReadTagBytes - this.#tag.length;
    if (room > 0) this.#tag = Buffer.concat([this.#tag, bytes.subarray(start, Math.min(end, start + room))]);
    if (this.left === 0) this.#readTag(this.#tag);
  }

  #readTag(tag: Buffer): void {
    const owner = tag.indexOf(timestampOwner, 0, 'latin1');
    const at = owner + timestampOwner.length;
    if (!this.#isFirst || owner < 0 || at + 8 > tag.length) return;
    this.startSeconds = Number(tag.readBigUInt64BE(at) & 0x1_ffff_ffffn) / clockRate;
  }

  #beginFrame(frame: Frame | undefined): void {
    if (frame === undefined) throw damaged("a part of it isn't audio");
    if (!this.#hasFrames) this.#timeline.place(new Map([[0, this.#seconds]]));
    this.#hasFrames = true;
    if (this.#format.hasChanged(frame.format)) this.changes.changesAudio = true;
    this.#timeline.add(0, this.#seconds, frame.seconds);
    this.#seconds += frame.seconds;
  }
}

/** Bytes needed to tell what begins at `at`. */
function neededBytes(bytes: Buffer, at: number, isFirst: boolean): number {
  if (bytes[at] === tagLetter) return tagHeaderBytes;
  const frameBytes = isFirst ? (frameAt(bytes, at)?.sizeBytes ?? 0) : 0;
  return Math.max(frameHeaderBytes, Math.min(frameBytes, infoHeaderBytes));
}

/** Smaller than any AC-3 or E-AC-3 frame. */
const minAc3Bytes = 16;
const ac3Rates = [48_000, 44_100, 32_000];
const ac3Kbps = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];

/** The frame of AC-3 or E-AC-3 that begins at `at` (ETSI TS 102 366, 4.4.1 and annex E). */
function readAc3(bytes: Buffer, at: number): Frame | undefined {
  if (bytes.readUInt16BE(at) !== 0x0b77) return undefined;
  const isEnhanced = bytes.readUInt8(at + 5) >> 3 > 10;
  const rateCode = bytes.readUInt8(at + 4) >> 6;
  if (isEnhanced) {
    const sizeBytes = ((bytes.readUInt16BE(at + 2) & 0x7ff) + 1) * 2;
    const low = (bytes.readUInt8(at + 4) >> 4) & 3;
    const rate = rateCode === 3 ? (ac3Rates[low] ?? 0) / 2 : ac3Rates[rateCode];
    const blocks = rateCode === 3 ? 6 : ([1, 2, 3, 6][low] ?? 6);
    return rate === undefined || rate === 0 || sizeBytes < minAc3Bytes
      ? undefined
      : { sizeBytes, seconds: (256 * blocks) / rate };
  }
  const rate = ac3Rates[rateCode];
  const code = bytes.readUInt8(at + 4) & 0x3f;
  const kbps = ac3Kbps[code >> 1];
  if (rate === undefined || kbps === undefined) return undefined;
  const words = Math.floor((kbps * 1000 * 1536) / rate / 16) + (rate === 44_100 ? code & 1 : 0);
  return { sizeBytes: words * 2, seconds: 1536 / rate };
}
