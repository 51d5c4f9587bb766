import { readAdtsFrame } from '../../containers/adts-frames.js';
import { readMp3FrameHeader } from '../../containers/mp3-frames.js';
import { damaged, type Joiner, type SegmentFacts, type TrackLengths } from './joiner.js';
import { Timeline } from './timeline.js';

const maxTagBytes = 1024 ** 2;
const clockRate = 90_000;
/** Owner of the ID3 frame that places packed audio in time (RFC 8216, 3.4). */
const timestampOwner = 'com.apple.streaming.transportStreamTimestamp\0';

interface Frame {
  readonly sizeBytes: number;
  readonly seconds: number;
}

/**
 * Joins packed audio (RFC 8216, 3.4): frames of ADTS, MP3, AC-3 or E-AC-3 one after
 * the other, with an ID3 tag in front of each segment, which is taken away.
 */
export class PackedAudioJoiner implements Joiner {
  readonly #timeline = new Timeline(false);
  #facts: SegmentFacts = { seconds: null, isRounded: false, isDiscontinuity: false, initialisation: null };
  #rest = Buffer.alloc(0);
  #tagLeft = 0;
  #tag: Buffer[] = [];
  #frameLeft = 0;
  #startSeconds: number | null = null;
  /** Sum of the frames so far: they have no times of their own. */
  #seconds = 0;
  #isFirst = true;
  #hasFrames = false;

  get startSeconds(): number | null {
    return this.#startSeconds;
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
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.#tagLeft > 0 || this.#frameLeft > 0) bytes = this.#take(bytes, output);
      else if (bytes.length < 10) {
        this.#rest = Buffer.from(bytes);
        break;
      } else if (!this.#startTag(bytes)) this.#startFrame(bytes);
    }
    return output;
  }

  end(): readonly Buffer[] {
    if (this.#rest.length > 0 || this.#frameLeft > 0 || this.#tagLeft > 0)
      throw damaged('a part of it ends in the middle of a frame');
    if (!this.#hasFrames) throw damaged('a part of the medium is empty');
    this.#timeline.endSegment(this.#facts);
    this.#isFirst = false;
    return [];
  }

  finish(): void {
    this.#timeline.finish();
  }

  #take(bytes: Buffer, output: Buffer[]): Buffer {
    const isTag = this.#tagLeft > 0;
    const part = bytes.subarray(0, isTag ? this.#tagLeft : this.#frameLeft);
    if (isTag) {
      this.#tagLeft -= part.length;
      this.#tag.push(part);
      if (this.#tagLeft === 0) this.#readTag();
    } else {
      this.#frameLeft -= part.length;
      output.push(part);
    }
    return bytes.subarray(part.length);
  }

  #startTag(bytes: Buffer): boolean {
    if (bytes.toString('latin1', 0, 3) !== 'ID3') return false;
    const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (bytes.readUInt8(at) & 0x7f), 0);
    if (size > maxTagBytes) throw damaged('a tag in it is too large');
    this.#tagLeft = 10 + size;
    this.#tag = [];
    return true;
  }

  #readTag(): void {
    const tag = Buffer.concat(this.#tag);
    this.#tag = [];
    const owner = tag.indexOf(timestampOwner, 0, 'latin1');
    const at = owner + timestampOwner.length;
    if (!this.#isFirst || owner < 0 || at + 8 > tag.length) return;
    this.#startSeconds = Number(tag.readBigUInt64BE(at) & 0x1_ffff_ffffn) / clockRate;
  }

  #startFrame(bytes: Buffer): void {
    const frame = readFrame(bytes);
    if (frame === null) throw damaged('a part of it is no sound');
    if (!this.#hasFrames) this.#timeline.begin(new Map([[0, this.#seconds]]), false);
    this.#hasFrames = true;
    this.#timeline.add(0, this.#seconds, frame.seconds);
    this.#seconds += frame.seconds;
    this.#frameLeft = frame.sizeBytes;
  }
}

/** The frame that begins here, or null. */
function readFrame(bytes: Buffer): Frame | null {
  return readAdtsFrame(bytes) ?? readMp3(bytes) ?? readAc3(bytes);
}

function readMp3(bytes: Buffer): Frame | null {
  const header = readMp3FrameHeader(bytes.readUInt32BE(0));
  return header && header.sizeBytes >= 4
    ? { sizeBytes: header.sizeBytes, seconds: header.samples / header.sampleRate }
    : null;
}

const ac3Rates = [48_000, 44_100, 32_000];
const ac3Kbps = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];

/** ETSI TS 102 366, 4.4.1 and annex E */
function readAc3(bytes: Buffer): Frame | null {
  if (bytes.readUInt16BE(0) !== 0x0b77) return null;
  const isEnhanced = bytes.readUInt8(5) >> 3 > 10;
  const rateCode = bytes.readUInt8(4) >> 6;
  if (isEnhanced) {
    const sizeBytes = ((bytes.readUInt16BE(2) & 0x7ff) + 1) * 2;
    const low = (bytes.readUInt8(4) >> 4) & 3;
    const rate = rateCode === 3 ? (ac3Rates[low] ?? 0) / 2 : ac3Rates[rateCode];
    const blocks = rateCode === 3 ? 6 : ([1, 2, 3, 6][low] ?? 6);
    return rate === undefined || rate === 0 ? null : { sizeBytes, seconds: (256 * blocks) / rate };
  }
  const rate = ac3Rates[rateCode];
  const code = bytes.readUInt8(4) & 0x3f;
  const kbps = ac3Kbps[code >> 1];
  if (rate === undefined || kbps === undefined) return null;
  const words = Math.floor((kbps * 1000 * 1536) / rate / 16) + (rate === 44_100 ? code & 1 : 0);
  return { sizeBytes: words * 2, seconds: 1536 / rate };
}
