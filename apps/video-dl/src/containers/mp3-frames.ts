/** MPEG audio layer III bit rates in kbit/s by index: MPEG-1, and MPEG-2 and 2.5 (ISO 11172-3, 13818-3). */
const bitratesV1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const bitratesV2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const sampleRatesV1 = [44_100, 48_000, 32_000];

export interface Mp3FrameHeader {
  sizeBytes: number;
  samples: number;
  sampleRate: number;
}

/** Reads a layer III frame header; undefined when the four bytes are none. */
export function readMp3FrameHeader(word: number): Mp3FrameHeader | undefined {
  const versionBits = (word >>> 19) & 3;
  const layerBits = (word >>> 17) & 3;
  const bitrateIndex = (word >>> 12) & 15;
  if (word >>> 21 !== 0x7ff || versionBits === 1 || layerBits !== 1) return undefined;
  const first = versionBits === 3;
  const bitrate = (first ? bitratesV1 : bitratesV2)[bitrateIndex];
  const baseRate = sampleRatesV1[(word >>> 10) & 3];
  if (!bitrate || baseRate === undefined) return undefined;
  // MPEG-2 halves the sample rate, 2.5 quarters it.
  const sampleRate = baseRate / (first ? 1 : versionBits === 2 ? 2 : 4);
  const samples = first ? 1152 : 576;
  const sizeBytes = Math.floor((samples / 8) * ((bitrate * 1000) / sampleRate)) + ((word >>> 9) & 1);
  return { sizeBytes, samples, sampleRate };
}

/**
 * Adds up the length of an MP3 stream from its frame headers as it passes, in
 * constant memory. Bytes between frames are skipped (and counted).
 */
export class Mp3FrameCounter {
  #word = 0;
  #wordBytes = 0;
  #skip = 0;
  seconds = 0;
  frames = 0;
  strayBytes = 0;

  /** Whether the last frame has all its bytes. */
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
 * A silent MP3 frame that states how many frames follow, which is where players
 * look for the length of a stream whose size they do not know (the Xing or Info
 * header; gabriel.mp3-tech.org/mp3infotag.html). ffmpeg writes its own only where
 * it can go back.
 *
 * @param firstFrame the beginning of the audio, whose kind the frame takes on.
 * @param seconds the length of the audio.
 * @returns undefined when `firstFrame` is no frame.
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

function sideInformationBytes(word: number): number {
  const isFirstVersion = ((word >>> 19) & 3) === 3;
  const isMono = ((word >>> 6) & 3) === 3;
  if (isFirstVersion) return isMono ? 17 : 32;
  return isMono ? 9 : 17;
}

const id3HeaderBytes = 10;

/** Bytes of the ID3v2 tag at the beginning of a file, 0 where there is none (id3.org/id3v2.4.0-structure, 3.1). */
export function id3TagBytes(start: Buffer): number {
  if (start.length < id3HeaderBytes || start.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (start.readUInt8(at) & 0x7f), 0);
  const hasFooter = (start.readUInt8(5) & 0x10) !== 0;
  return id3HeaderBytes + size + (hasFooter ? id3HeaderBytes : 0);
}

/** Whether `sound` begins with so many frames of one sample rate, one after the other. */
export function startsWithFrames(sound: Buffer, frames: number): boolean {
  let offset = 0;
  let sampleRate: number | undefined;
  for (let index = 0; index < frames; index += 1) {
    if (sound.length - offset < 4) return false;
    const header = readMp3FrameHeader(sound.readUInt32BE(offset));
    if (header === undefined || (sampleRate !== undefined && header.sampleRate !== sampleRate)) return false;
    sampleRate = header.sampleRate;
    offset += header.sizeBytes;
  }
  return true;
}

/** The frames that an encoder of constant bit rate makes of so much sound. */
export interface ConstantFrames {
  readonly frames: number;
  readonly totalBytes: number;
  /** Of a frame without the byte of padding that keeps the rate. */
  readonly unpaddedBytes: number;
  /** Bytes of the first so many frames. */
  readonly bytesBefore: (frame: number) => number;
}

/**
 * What LAME makes of `samples` of MPEG-1 sound: whole frames of 1152, and one more for its delay.
 * LAME gives a frame a byte of padding when the bit rate has got ahead of the frames before it
 * (`slot_lag` in encoder.c), so the first frame never has one.
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

/** A frame of silence of the kind of another one. @param sizeBytes the size without padding, or one more */
export function silentFrame(like: Buffer, sizeBytes: number): Buffer {
  const word = ((like.readUInt32BE() | 0x0001_0000) & ~0x0000_0200) >>> 0;
  const isPadded = readMp3FrameHeader(word)?.sizeBytes !== sizeBytes;
  const frame = Buffer.alloc(sizeBytes);
  frame.writeUInt32BE(isPadded ? (word | 0x0000_0200) >>> 0 : word);
  return frame;
}
