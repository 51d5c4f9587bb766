import type { CorrectedLength } from '../matroska/length.js';
import type { PartialFile } from '../partial-file.js';
import { readAdtsFrame } from './frame-chain.js';
import { apeTagBytes, id3TagBytes, readMp3FrameHeader, readXingHeader, type XingHeader } from './frames.js';

const samplesOfFrames = 9;
const beginningBytes = 128 * 1024;

/** What a header may leave out: small tags at the end of a file. */
const maxUnstated = { share: 0.01, bytes: 4096 };
/** How far the beginning of a variable bit rate may be from its mean. */
const maxMeanRatio = 1.3;
/** How much less than measured a header may state. A few samples say little about a variable bit rate. */
const minStatedShare = { constant: 0.99, variable: 0.8 };

/**
 * The length of MP3 or ADTS frames, which state none, except in a header that programs copy without correcting it.
 * Reads a few places of a file whose bit rate varies.
 * @returns null if the stated length may be true
 * @throws MissingBytes
 */
export function measuredLength(file: PartialFile, totalBytes: number): CorrectedLength | null {
  const startsAt = audioStart(file);
  const start = file.read(startsAt, beginningBytes);
  if (!beginsWithFrames(start)) return null;
  const beginning = measureFrames([start]);
  const stated = readXingHeader(file.read(startsAt, beginning.firstBytes));
  const audioBytes = totalBytes - startsAt;
  if (isPlausible(beginning, stated, audioBytes)) return null;
  const samples = file.samples(startsAt, totalBytes, samplesOfFrames);
  const measured = measureFrames(samples);
  const sampledBytes = samples.reduce((sum, { length }) => sum + length, 0);
  const seconds = (measured.seconds / sampledBytes) * audioBytes;
  const minShare = measured.isConstant ? minStatedShare.constant : minStatedShare.variable;
  // A file that states more may have lost its end, which its stream shows.
  return stated !== undefined && stated.seconds > seconds * minShare ? null : { seconds };
}

/** More tags before the audio are a coincidence. */
const maxTags = 8;
const tagHeaderBytes = 32;
/** Programs leave some zeros or their own data between tags and frames. */
const maxGapBytes = 16 * 1024;

/** Where the frames after the tags begin. */
function audioStart(file: PartialFile): number {
  let end = 0;
  for (let tags = 0; tags < maxTags; tags += 1) {
    const head = file.read(end, tagHeaderBytes);
    const size = id3TagBytes(head) || apeTagBytes(head);
    if (size === 0) break;
    end += size;
  }
  if (end === 0) return 0;
  const rest = file.read(end, beginningBytes);
  let at = rest.indexOf(0xff);
  while (at >= 0 && at <= maxGapBytes && !beginsWithFrames(rest.subarray(at)))
    at = rest.indexOf(0xff, at + 1);
  return at < 0 || at > maxGapBytes ? end : end + at;
}

function isPlausible(
  { frames, frameBytes, isConstant }: MeasuredFrames,
  stated: XingHeader | undefined,
  audioBytes: number,
): boolean {
  if (stated === undefined) return isConstant;
  const { bytes = audioBytes } = stated;
  if (audioBytes - bytes > Math.max(maxUnstated.bytes, bytes * maxUnstated.share)) return false;
  const ratio = bytes / stated.frames / (frameBytes / frames);
  return ratio < maxMeanRatio && ratio > 1 / maxMeanRatio;
}

/** Consecutive frames needed to rule out coincidence. */
const minChainFrames = 3;

function beginsWithFrames(bytes: Buffer): boolean {
  let at = 0;
  for (let count = 0; count < minChainFrames && at + headerBytes <= bytes.length; count += 1) {
    const frame = frameAt(bytes, at);
    if (frame === undefined) return false;
    at += frame.sizeBytes;
  }
  return at > 0;
}

interface MeasuredFrames {
  readonly frames: number;
  readonly seconds: number;
  readonly frameBytes: number;
  /** Size of the first frame. */
  readonly firstBytes: number;
  /** All frames have one size, except for padding. */
  readonly isConstant: boolean;
}

/** Measures the frames that start in these samples. */
function measureFrames(samples: readonly Buffer[]): MeasuredFrames {
  const sum = { frames: 0, seconds: 0, frameBytes: 0, firstBytes: 0 };
  let [minBytes, maxBytes] = [Infinity, 0];
  for (const bytes of samples) {
    let at = 0;
    while (at + headerBytes <= bytes.length) {
      const frame = frameAt(bytes, at);
      const next = at + (frame?.sizeBytes ?? 0);
      const isLast = next + headerBytes > bytes.length;
      if (frame === undefined || (!isLast && frameAt(bytes, next) === undefined)) {
        at += 1;
        continue;
      }
      sum.frames += 1;
      sum.seconds += frame.seconds;
      sum.frameBytes += frame.sizeBytes;
      sum.firstBytes ||= frame.sizeBytes;
      minBytes = Math.min(minBytes, frame.sizeBytes);
      maxBytes = Math.max(maxBytes, frame.sizeBytes);
      at = next;
    }
  }
  return { ...sum, isConstant: maxBytes - minBytes <= 1 };
}

/** Enough for the header of either format. */
const headerBytes = 7;

function frameAt(bytes: Buffer, at: number): { sizeBytes: number; seconds: number } | undefined {
  if (bytes[at] !== 0xff) return undefined;
  const mp3 = readMp3FrameHeader(bytes.readUInt32BE(at));
  if (mp3 === undefined) return readAdtsFrame(bytes, at) ?? undefined;
  return { sizeBytes: mp3.sizeBytes, seconds: mp3.samples / mp3.sampleRate };
}
