import type { CorrectedLength } from '../matroska/length.js';
import type { PartialFile } from '../partial-file.js';

const headBytes = 64 * 1024;
const entryBytes = 16;
/** Empty chunks come before the late track. */
const sampleBytes = 4096 * entryBytes;
/** Of a film of six hours. */
const maxIndexBytes = 32 * 1024 ** 2;
const maxSurplusSeconds = 0.5;
const headerBytes = 56;
/** Chunks have two digits for the number of their stream. */
const maxStreams = 100;

/** A stream's header (`strh`). A unit is a chunk, or `unitBytes` if that isn't 0. */
interface Stream {
  readonly isAudio: boolean;
  readonly unitSeconds: number;
  readonly units: number;
  readonly unitBytes: number;
}

/**
 * Compares the stated length of the audio in a complete AVI with its index. Audio that starts late has empty
 * chunks before it. They count as units, but players skip them.
 * @returns null if the stated length is true
 * @throws MissingBytes
 */
export function aviLength(file: PartialFile, totalBytes: number): CorrectedLength | null {
  const head = file.read(0, Math.min(headBytes, totalBytes));
  const index = indexOf(head, file, totalBytes);
  if (index === null || !hasEmptyChunk(file.read(index.start, Math.min(index.bytes, sampleBytes))))
    return null;
  const entries = file.read(index.start, index.bytes);
  const streams = streamsIn(head);
  const filled = filledUnits(entries, streams);
  const lengths = streams.map((stream, number) => ({
    stated: stream.units * stream.unitSeconds,
    seconds: (stream.isAudio ? (filled[number] ?? 0) : stream.units) * stream.unitSeconds,
  }));
  const isTrue = lengths.every(({ stated, seconds }) => stated - seconds <= maxSurplusSeconds);
  return isTrue ? null : { seconds: Math.max(...lengths.map(({ seconds }) => seconds)) };
}

/** The index after the media; null if the file has none, or lost its end. */
function indexOf(
  head: Buffer,
  file: PartialFile,
  totalBytes: number,
): { start: number; bytes: number } | null {
  const typeAt = head.indexOf('movi');
  if (typeAt < 8 || head.toString('latin1', typeAt - 8, typeAt - 4) !== 'LIST') return null;
  const mediaBytes = head.readUInt32LE(typeAt - 4);
  const at = typeAt + mediaBytes + (mediaBytes % 2);
  if (at + 8 > totalBytes) return null;
  const header = file.read(at, 8);
  const bytes = header.readUInt32LE(4);
  const isIndex = header.toString('latin1', 0, 4) === 'idx1' && bytes <= maxIndexBytes;
  return isIndex && at + 8 + bytes <= totalBytes ? { start: at + 8, bytes } : null;
}

function streamsIn(head: Buffer): Stream[] {
  const streams: Stream[] = [];
  for (let at = head.indexOf('strh'); at >= 0; at = head.indexOf('strh', at + 4)) {
    if (at + headerBytes > head.length || streams.length === maxStreams) break;
    const [scale, rate] = [head.readUInt32LE(at + 28), head.readUInt32LE(at + 32)];
    streams.push({
      isAudio: head.toString('latin1', at + 8, at + 12) === 'auds',
      unitSeconds: rate === 0 ? 0 : scale / rate,
      units: head.readUInt32LE(at + 40),
      unitBytes: head.readUInt32LE(at + 52),
    });
  }
  return streams;
}

/** `wb`, after the number of the stream in two digits. */
const audioChunk = 0x7762;
/** Digits `00`. */
const zeroZero = 48 * 11;

function hasEmptyChunk(entries: Buffer): boolean {
  for (let at = 0; at + entryBytes <= entries.length; at += entryBytes)
    if (entries.readUInt32LE(at + 12) === 0) return true;
  return false;
}

/** Of each stream, by its number. */
function filledUnits(entries: Buffer, streams: readonly Stream[]): number[] {
  const units = streams.map(() => 0);
  for (let at = 0; at + entryBytes <= entries.length; at += entryBytes) {
    if (entries.readUInt16BE(at + 2) !== audioChunk) continue;
    const number = entries.readUInt8(at) * 10 + entries.readUInt8(at + 1) - zeroZero;
    const { unitBytes } = streams[number] ?? { unitBytes: 0 };
    const bytes = entries.readUInt32LE(at + 12);
    if (number in units)
      units[number] = (units[number] ?? 0) + (unitBytes === 0 ? Number(bytes > 0) : bytes / unitBytes);
  }
  return units;
}
