import { id3TagBytes, readMp3FrameHeader, readXingHeader } from './frames.js';
import { FormatWatch, readAdtsFrame } from './frame-chain.js';
import type { FirstTimes, Joiner, SegmentFacts, TrackKind, TrackLengths } from '../joiner.js';
import { damaged } from '../rejection.js';
import { Timeline } from '../timeline.js';

const maxTagBytes = 1024 ** 2;
const maxReadTagBytes = 4 * 1024;
/** Bytes needed to read the header of a frame or a tag. */
const frameHeaderBytes = 7;
/** Bytes needed to tell a file's first MP3 frame, which counts the others, from audio. */
const infoHeaderBytes = 64;
const tagHeaderBytes = 10;
const clockRate = 90_000;
/** Owner of the ID3 frame that places packed audio in time (RFC 8216, 3.4). */
const timestampOwner = 'com.apple.streaming.transportStreamTimestamp\0';

interface Frame {
  readonly sizeBytes: number;
  readonly seconds: number;
  /** Of ADTS. */
  readonly format?: number;
}

/**
 * Joins packed audio (RFC 8216, 3.4): consecutive frames of ADTS, MP3, AC-3 or E-AC-3.
 * Removes the ID3 tag before each segment, and an MP3 frame that only describes the segment.
 */
export class PackedAudioJoiner implements Joiner {
  readonly #timeline = new Timeline(false);
  #facts: SegmentFacts = { seconds: null, isRounded: false, isDiscontinuity: false, initialisation: null };
  #rest = Buffer.alloc(0);
  #tagLeft = 0;
  #tag = Buffer.alloc(0);
  #frameLeft = 0;
  #startSeconds: number | null = null;
  /** Duration of the frames so far, which have no timestamps. */
  #seconds = 0;
  #isFirst = true;
  #hasFrames = false;
  readonly #format = new FormatWatch();
  readonly changed = new Set<TrackKind>();

  get startSeconds(): number | null {
    return this.#startSeconds;
  }

  get firstTimes(): FirstTimes {
    return { video: null, audio: this.#startSeconds, areAllKnown: this.#hasFrames };
  }

  get lengths(): TrackLengths {
    return { video: null, audio: this.#seconds, audioGaps: 0 };
  }

  begin(facts: SegmentFacts): void {
    this.#facts = facts;
    this.#hasFrames = false;
  }

  push(chunk: Buffer): readonly Buffer[] {
    const output: Buffer[] = [];
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = Buffer.alloc(0);
    let at = 0;
    // Consecutive frames are forwarded together.
    let forwardFrom = 0;
    while (at < bytes.length) {
      if (this.#frameLeft > 0) {
        const passed = Math.min(this.#frameLeft, bytes.length - at);
        this.#frameLeft -= passed;
        at += passed;
      } else if (this.#tagLeft > 0) {
        if (forwardFrom < at) output.push(bytes.subarray(forwardFrom, at));
        at = this.#takeTag(bytes, at);
        forwardFrom = at;
      } else if (bytes.length - at < this.#neededBytes(bytes, at)) break;
      else if (!this.#startTag(bytes, at)) this.#startFrame(bytes, at);
    }
    if (forwardFrom < at) output.push(bytes.subarray(forwardFrom, at));
    this.#rest = Buffer.from(bytes.subarray(at));
    return output;
  }

  end(): readonly Buffer[] {
    if (this.#rest.length > 0 || this.#frameLeft > 0 || this.#tagLeft > 0)
      throw damaged('a part of it ends in the middle of a frame');
    if (!this.#hasFrames) throw damaged('a part of it is empty');
    this.#timeline.endSegment(this.#facts);
    this.#isFirst = false;
    return [];
  }

  finish(): void {
    this.#timeline.finish();
  }

  /** Bytes needed to tell what begins at `at`. */
  #neededBytes(bytes: Buffer, at: number): number {
    if (bytes[at] === 0x49) return tagHeaderBytes;
    if (this.#hasFrames || bytes.length - at < frameHeaderBytes) return frameHeaderBytes;
    return Math.min(readMp3(bytes, at)?.sizeBytes ?? frameHeaderBytes, infoHeaderBytes);
  }

  /** @returns the end of the tag or of `bytes` */
  #takeTag(bytes: Buffer, at: number): number {
    const part = bytes.subarray(at, at + this.#tagLeft);
    this.#tagLeft -= part.length;
    // The timestamp is at the beginning; an image after it isn't needed.
    const room = maxReadTagBytes - this.#tag.length;
    if (room > 0) this.#tag = Buffer.concat([this.#tag, part.subarray(0, room)]);
    if (this.#tagLeft === 0) this.#readTag();
    return at + part.length;
  }

  #startTag(bytes: Buffer, at: number): boolean {
    const isInfo = !this.#hasFrames && readXingHeader(bytes.subarray(at, at + infoHeaderBytes)) !== undefined;
    if (bytes[at] !== 0x49 && !isInfo) return false;
    const size = isInfo
      ? (readMp3(bytes, at)?.sizeBytes ?? 0)
      : id3TagBytes(bytes.subarray(at, at + tagHeaderBytes));
    if (size > maxTagBytes) throw damaged('a tag in it is too large');
    this.#tagLeft = size;
    this.#tag = Buffer.alloc(0);
    return size > 0;
  }

  #readTag(): void {
    const tag = this.#tag;
    this.#tag = Buffer.alloc(0);
    const owner = tag.indexOf(timestampOwner, 0, 'latin1');
    const at = owner + timestampOwner.length;
    if (!this.#isFirst || owner < 0 || at + 8 > tag.length) return;
    this.#startSeconds = Number(tag.readBigUInt64BE(at) & 0x1_ffff_ffffn) / clockRate;
  }

  #startFrame(bytes: Buffer, at: number): void {
    const frame = readFrame(bytes, at);
    if (frame === null) throw damaged("a part of it isn't audio");
    if (!this.#hasFrames) this.#timeline.begin(new Map([[0, this.#seconds]]), false);
    this.#hasFrames = true;
    if (this.#format.hasChanged(frame.format)) this.changed.add('audio');
    this.#timeline.add(0, this.#seconds, frame.seconds);
    this.#seconds += frame.seconds;
    this.#frameLeft = frame.sizeBytes;
  }
}

/** The frame that begins at `at`, or null. */
function readFrame(bytes: Buffer, at: number): Frame | null {
  return readAdtsFrame(bytes, at) ?? readMp3(bytes, at) ?? readAc3(bytes, at);
}

function readMp3(bytes: Buffer, at: number): Frame | null {
  const header = readMp3FrameHeader(bytes.readUInt32BE(at));
  return header && header.sizeBytes >= 4
    ? { sizeBytes: header.sizeBytes, seconds: header.samples / header.sampleRate }
    : null;
}

/** Smaller than any AC-3 or E-AC-3 frame. */
const minAc3Bytes = 16;
const ac3Rates = [48_000, 44_100, 32_000];
const ac3Kbps = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];

/** ETSI TS 102 366, 4.4.1 and annex E */
function readAc3(bytes: Buffer, at: number): Frame | null {
  if (bytes.readUInt16BE(at) !== 0x0b77) return null;
  const isEnhanced = bytes.readUInt8(at + 5) >> 3 > 10;
  const rateCode = bytes.readUInt8(at + 4) >> 6;
  if (isEnhanced) {
    const sizeBytes = ((bytes.readUInt16BE(at + 2) & 0x7ff) + 1) * 2;
    const low = (bytes.readUInt8(at + 4) >> 4) & 3;
    const rate = rateCode === 3 ? (ac3Rates[low] ?? 0) / 2 : ac3Rates[rateCode];
    const blocks = rateCode === 3 ? 6 : ([1, 2, 3, 6][low] ?? 6);
    return rate === undefined || rate === 0 || sizeBytes < minAc3Bytes
      ? null
      : { sizeBytes, seconds: (256 * blocks) / rate };
  }
  const rate = ac3Rates[rateCode];
  const code = bytes.readUInt8(at + 4) & 0x3f;
  const kbps = ac3Kbps[code >> 1];
  if (rate === undefined || kbps === undefined) return null;
  const words = Math.floor((kbps * 1000 * 1536) / rate / 16) + (rate === 44_100 ? code & 1 : 0);
  return { sizeBytes: words * 2, seconds: 1536 / rate };
}
