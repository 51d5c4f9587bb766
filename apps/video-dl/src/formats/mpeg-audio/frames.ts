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

/**
 * Measures the length of an MP3 stream from its frame headers in constant memory.
 * Bytes between frames are skipped and counted.
 */
export class Mp3FrameCounter {
  #word = 0;
  #wordBytes = 0;
  #skip = 0;
  seconds = 0;
  frames = 0;
  strayBytes = 0;

  /** Whether the last frame is complete. */
  get complete(): boolean {
    return this.#skip === 0;
  }

  push(chunk: Uint8Array): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - offset);
        this.#skip -= skipped;
        offset += skipped;
        continue;
      }
      this.#word = ((this.#word << 8) | (chunk[offset] ?? 0)) >>> 0;
      this.#wordBytes += 1;
      offset += 1;
      if (this.#wordBytes < 4) continue;
      const header = readMp3FrameHeader(this.#word);
      if (header === undefined) {
        this.#wordBytes = 3;
        this.strayBytes += 1;
        continue;
      }
      this.#wordBytes = 0;
      this.#skip = Math.max(0, header.sizeBytes - 4);
      this.frames += 1;
      this.seconds += header.samples / header.sampleRate;
    }
  }
}

const framesField = 0x01;

/**
 * A silent MP3 frame with the number of frames that follow (the Xing or Info header;
 * gabriel.mp3-tech.org/mp3infotag.html). Players use it to find the length of a stream of
 * unknown size. ffmpeg writes one only when its output is seekable.
 *
 * @param firstFrame the beginning of the audio, whose format the frame copies.
 * @param seconds the length of the audio.
 * @returns undefined when `firstFrame` isn't a frame.
 */
export function makeInfoFrame(
  firstFrame: Buffer,
  seconds: number,
  kind: 'Xing' | 'Info',
): Buffer | undefined {
  if (firstFrame.length < 4) return undefined;
  // Without a checksum (bit 16) and without padding (bit 9).
  const word = ((firstFrame.readUInt32BE() | 0x0001_0000) & ~0x0000_0200) >>> 0;
  const header = readMp3FrameHeader(word);
  if (header === undefined) return undefined;
  const frame = Buffer.alloc(header.sizeBytes);
  frame.writeUInt32BE(word);
  const offset = 4 + sideInformationBytes(word);
  frame.write(kind, offset, 'latin1');
  frame.writeUInt32BE(framesField, offset + 4);
  frame.writeUInt32BE(Math.round((seconds * header.sampleRate) / header.samples), offset + 8);
  return frame;
}

/** What the header in a first frame states. */
export interface XingHeader {
  readonly frames: number;
  readonly seconds: number;
  /** Of all frames; absent if it states none. */
  readonly bytes?: number;
  /** Where in the frame the number of frames is. */
  readonly framesAt: number;
}

const bytesField = 0x02;

/** The number of frames that a first frame states; undefined if none. */
export function readXingHeader(firstFrame: Buffer): XingHeader | undefined {
  if (firstFrame.length < 4) return undefined;
  const header = readMp3FrameHeader(firstFrame.readUInt32BE(0));
  const at = Math.max(firstFrame.indexOf('Xing'), firstFrame.indexOf('Info'));
  if (header === undefined || at < 0 || at + 16 > firstFrame.length) return undefined;
  const fields = firstFrame.readUInt32BE(at + 4);
  if ((fields & framesField) === 0) return undefined;
  const frames = firstFrame.readUInt32BE(at + 8);
  const bytes = (fields & bytesField) === 0 ? 0 : firstFrame.readUInt32BE(at + 12);
  return {
    frames,
    seconds: (frames * header.samples) / header.sampleRate,
    ...(bytes > 0 && { bytes }),
    framesAt: at + 8,
  };
}

function sideInformationBytes(word: number): number {
  const isMpeg1 = ((word >>> 19) & 3) === 3;
  const isMono = ((word >>> 6) & 3) === 3;
  if (isMpeg1) return isMono ? 17 : 32;
  return isMono ? 9 : 17;
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

/** Whether `audio` starts with this many consecutive frames of one sample rate. */
export function startsWithFrames(audio: Buffer, frames: number): boolean {
  let offset = 0;
  let sampleRate: number | undefined;
  for (let index = 0; index < frames; index += 1) {
    if (audio.length - offset < 4) return false;
    const header = readMp3FrameHeader(audio.readUInt32BE(offset));
    if (header === undefined || (sampleRate !== undefined && header.sampleRate !== sampleRate)) return false;
    sampleRate = header.sampleRate;
    offset += header.sizeBytes;
  }
  return true;
}

/** The frames of a constant-bit-rate encoding. */
export interface ConstantFrames {
  readonly frames: number;
  readonly totalBytes: number;
  /** Size of a frame without its padding byte. */
  readonly unpaddedBytes: number;
  /** Total bytes of all frames before this one. */
  readonly bytesBefore: (frame: number) => number;
}

/**
 * The frames LAME produces for `samples` of MPEG-1 audio: 1152 samples each, plus one frame for its
 * delay. LAME pads a frame by one byte when the previous frames fall behind the bit rate
 * (`slot_lag` in encoder.c), so it never pads the first.
 */
export function constantFrames(
  samples: number,
  { bitrateKbps, sampleRate }: { bitrateKbps: number; sampleRate: number },
): ConstantFrames {
  const frames = Math.ceil(samples / 1152) + 1;
  const unpaddedBytes = Math.floor((144_000 * bitrateKbps) / sampleRate);
  const leftOver = (144_000 * bitrateKbps) % sampleRate;
  const bytesBefore = (frame: number): number =>
    frame === 0 ? 0 : frame * unpaddedBytes + Math.ceil((leftOver * (frame - 1)) / sampleRate);
  return { frames, totalBytes: bytesBefore(frames), unpaddedBytes, bytesBefore };
}

/** A silent frame in the format of another one. @param sizeBytes the size with or without the padding byte */
export function silentFrame(like: Buffer, sizeBytes: number): Buffer {
  const word = ((like.readUInt32BE() | 0x0001_0000) & ~0x0000_0200) >>> 0;
  const isPadded = readMp3FrameHeader(word)?.sizeBytes !== sizeBytes;
  const frame = Buffer.alloc(sizeBytes);
  frame.writeUInt32BE(isPadded ? (word | 0x0000_0200) >>> 0 : word);
  return frame;
}
