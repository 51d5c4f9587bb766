import type { MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { apeTagBytes, codecOfFrames, frameAt, frameHeaderBytes, id3TagBytes } from './frames.js';
import { readXingHeader, type XingHeader } from './info-frame.js';

const samplesOfFrames = 9;
/** Fits into the first window that is read, behind a short tag. */
const beginningBytes = 120 * 1024;

/** What a header may leave out: small tags at the end of a file. */
const maxUnstated = { share: 0.01, bytes: 4096 };
/** How far the beginning of a variable bit rate may be from its mean. */
const maxMeanRatio = 1.3;
/** How much less than measured a header may state. A few samples say little about a variable bit rate. */
const minStatedShare = { constant: 0.99, variable: 0.8 };

/**
 * MP3 or ADTS frames. They state no length, except in a header that programs copy without correcting it.
 * Reads a few places of a file whose bit rate varies.
 * @param totalBytes null while unknown
 * @param hasRanges whether single parts of the file can be read
 * @throws MissingBytes
 */
export function readBareFrames(
  file: PartialFile,
  totalBytes: number | null,
  hasRanges: boolean,
): Partial<MediaHead> {
  const startsAt = hasRanges ? audioStart(file) : id3TagBytes(file.read(0, 10));
  const start = file.read(startsAt, beginningBytes);
  const codec = codecOfFrames(start);
  if (codec === null) return {};
  const name = codec === 'mp3' ? codec : null;
  const beginning = measureFrames([start]);
  const header = readXingHeader(file.read(startsAt, beginning.firstBytes));
  // Programs that can't go back to fill it in leave 0.
  const stated = header?.frames === 0 ? undefined : header;
  const audioBytes = totalBytes === null ? null : totalBytes - startsAt;
  const isMeasured = audioBytes !== null && hasRanges && !isPlausible(beginning, stated, audioBytes);
  const correctedLength = isMeasured ? measuredLength(file, startsAt, audioBytes, stated) : null;
  const { seconds, frameBytes } = beginning;
  const guess = audioBytes === null ? null : (audioBytes * seconds) / frameBytes;
  return {
    original: name,
    audioFile: name,
    probe: {
      formatName: codec,
      durationSeconds: stated?.seconds ?? guess,
      streams: [{ ...bareTrack, codec, bitrateKbps: Math.round((frameBytes * 8) / seconds / 1000) }],
    },
    correctedLength,
  };
}

const bareTrack = {
  type: 'audio',
  width: null,
  height: null,
  fps: null,
  durationSeconds: null,
  isCover: false,
  isDefault: true,
} as const;

/** Null if the stated length may be true. */
function measuredLength(
  file: PartialFile,
  startsAt: number,
  audioBytes: number,
  stated: XingHeader | undefined,
): MediaHead['correctedLength'] {
  const samples = file.samples(startsAt, startsAt + audioBytes, samplesOfFrames);
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
  while (at >= 0 && at <= maxGapBytes && codecOfFrames(rest.subarray(at)) === null)
    at = rest.indexOf(0xff, at + 1);
  return at < 0 || at > maxGapBytes ? end : end + at;
}

function isPlausible(
  { frames, frameBytes, isConstant }: ReturnType<typeof measureFrames>,
  stated: XingHeader | undefined,
  audioBytes: number,
): boolean {
  if (stated === undefined) return isConstant;
  const { bytes = audioBytes } = stated;
  if (audioBytes - bytes > Math.max(maxUnstated.bytes, bytes * maxUnstated.share)) return false;
  const ratio = bytes / stated.frames / (frameBytes / frames);
  return ratio < maxMeanRatio && ratio > 1 / maxMeanRatio;
}

/** Measures the frames that start in these samples. */
function measureFrames(samples: readonly Buffer[]) {
  /** `firstBytes`: the size of the first one. */
  const sum = { frames: 0, seconds: 0, frameBytes: 0, firstBytes: 0 };
  let [minBytes, maxBytes] = [Infinity, 0];
  for (const bytes of samples) {
    let at = 0;
    while (at + frameHeaderBytes <= bytes.length) {
      const frame = frameAt(bytes, at);
      const next = at + (frame?.sizeBytes ?? 0);
      const isLast = next + frameHeaderBytes > bytes.length;
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
  // Of one size, except for padding.
  return { ...sum, isConstant: maxBytes - minBytes <= 1 };
}
