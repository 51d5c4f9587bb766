import { readMp3FrameHeader } from './frames.js';

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
  const seconds = (frames * header.samples) / header.sampleRate;
  return { frames, seconds, ...(bytes > 0 && { bytes }) };
}

function sideInformationBytes(word: number): number {
  const isMpeg1 = ((word >>> 19) & 3) === 3;
  const isMono = ((word >>> 6) & 3) === 3;
  if (isMpeg1) return isMono ? 17 : 32;
  return isMono ? 9 : 17;
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
