import { isFlvWithoutLength, searchedBytes, untrueLengths } from '../untrue-lengths.js';
import type { CorrectedLength } from '../matroska/length.js';
import type { PartialFile } from '../partial-file.js';

const tailBytes = 128 * 1024;
const tagHeaderBytes = 11;
const sizeBytes = 4;
const media = new Set([8, 9]);
/** Video and audio are interleaved by time. */
const maxBehindMs = 1000;

/**
 * The length of an FLV that states none. ffprobe takes the last timestamp, and some programs end a file
 * with a tag from its beginning.
 * @returns null if the last timestamp is the latest
 * @throws MissingBytes
 */
export function flvLength(file: PartialFile, totalBytes: number): CorrectedLength | null {
  const head = file.read(0, searchedBytes);
  if (!isFlvWithoutLength(head, untrueLengths(head, totalBytes))) return null;
  const tailAt = Math.max(0, totalBytes - tailBytes);
  const times = timesBackwards(file.read(tailAt, totalBytes - tailAt));
  const last = times[0];
  const latest = Math.max(...times);
  if (last === undefined || latest - last <= maxBehindMs) return null;
  return { seconds: (latest - firstTime(head)) / 1000 };
}

/** The timestamps of the last tags, in milliseconds, the last first. After each tag comes its size. */
function timesBackwards(tail: Buffer): number[] {
  const times: number[] = [];
  for (let end = tail.length; end >= sizeBytes + tagHeaderBytes;) {
    const size = tail.readUInt32BE(end - sizeBytes);
    const at = end - sizeBytes - size;
    if (at < 0 || tail.readUIntBE(at + 1, 3) + tagHeaderBytes !== size) break;
    if (media.has(tail.readUInt8(at))) times.push(timeOf(tail, at));
    end = at;
  }
  return times;
}

function firstTime(head: Buffer): number {
  let at = head.readUInt32BE(5) + sizeBytes;
  while (at + tagHeaderBytes <= head.length) {
    if (media.has(head.readUInt8(at))) return timeOf(head, at);
    at += tagHeaderBytes + head.readUIntBE(at + 1, 3) + sizeBytes;
  }
  return 0;
}

/** The upper byte comes last. */
function timeOf(bytes: Buffer, tagAt: number): number {
  return bytes.readUIntBE(tagAt + 4, 3) + bytes.readUInt8(tagAt + 7) * 2 ** 24;
}
