import { matroskaIds, readElementHeader, type ElementHeader } from './ebml.js';
import type { PartialFile } from '../partial-file.js';

/** Replaces the length that a file states. */
export interface CorrectedLength {
  /** Null if it is unknown. */
  readonly seconds: number | null;
}

/** RFC 9559, 5.1. */
const ids = {
  info: 0x1549a966,
  scale: 0x2ad7b1,
  duration: 0x4489,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  clusterTime: 0xe7,
  simpleBlock: 0xa3,
  group: 0xa0,
  block: 0xa1,
  blockDuration: 0x9b,
};

const frontBytes = 64 * 1024;
const tailBytes = 256 * 1024;
const maxElements = 100_000;

/** How much longer than its last block a file may be. The last frame lasts about as long as those before. */
const maxSurplus = { seconds: 0.5, steps: 2 };
/** With a single time to go by: as long as a long group of pictures. */
const maxUnseenSeconds = 30;

/**
 * Compares the duration in a complete Matroska file with the times at its end. Some programs cut files
 * without updating it.
 * @returns null if the stated duration may be true
 * @throws MissingBytes
 */
export function matroskaLength(file: PartialFile, totalBytes: number): CorrectedLength | null {
  const stated = statedDuration(file.read(0, frontBytes), totalBytes);
  if (stated === undefined) return null;
  const offset = Math.max(0, totalBytes - tailBytes);
  const { ticks, areBlocks } = timesIn(file.read(offset, totalBytes - offset));
  const seconds = ticks.map((time) => time * stated.tickSeconds).toSorted((a, b) => a - b);
  const last = seconds.at(-1);
  if (last === undefined) return null;
  const step = seconds.reduce((most, time, index) => Math.max(most, time - (seconds[index - 1] ?? time)), 0);
  const allowed = step > 0 ? maxSurplus.seconds + maxSurplus.steps * step : maxUnseenSeconds;
  if (stated.seconds - last <= allowed) return null;
  return { seconds: areBlocks && step > 0 ? last + step : null };
}

/** The duration of a file that has all the bytes it states; undefined if it states none. */
function statedDuration(
  front: Buffer,
  totalBytes: number,
): { seconds: number; tickSeconds: number } | undefined {
  for (const { id, size, start } of elementsIn(front, [matroskaIds.segment])) {
    // A truncated file must not look complete.
    if (id === matroskaIds.segment && (size === null || start + size > totalBytes)) return undefined;
    if (id === matroskaIds.cluster) return undefined;
    if (id !== ids.info || size === null) continue;
    const info = front.subarray(start, start + size);
    const fields = new Map([...elementsIn(info)].map((field) => [field.id, field]));
    const [scale, duration] = [fields.get(ids.scale), fields.get(ids.duration)];
    const ticks = duration && floatAt(info, duration);
    const tickSeconds = (scale === undefined ? 1_000_000 : unsignedAt(info, scale)) / 1e9;
    return ticks === undefined ? undefined : { seconds: ticks * tickSeconds, tickSeconds };
  }
  return undefined;
}

interface Times {
  readonly ticks: readonly number[];
  /** Of blocks; else of the index, which has only some of them. */
  readonly areBlocks: boolean;
}

/** The times in the end of a file, which may begin anywhere in a cluster. */
function timesIn(tail: Buffer): Times {
  const clusterAt = indexOfId(tail, matroskaIds.cluster);
  const at = clusterAt < 0 ? indexOfId(tail, ids.cues) : clusterAt;
  if (at < 0) return { ticks: [], areBlocks: false };
  const rest = tail.subarray(at);
  const blocks: number[] = [];
  const indexed: number[] = [];
  let cluster = 0;
  for (const element of elementsIn(rest, [matroskaIds.cluster, ids.group, ids.cues, ids.cuePoint])) {
    const { id } = element;
    if (id === ids.clusterTime) cluster = unsignedAt(rest, element);
    else if (id === ids.cueTime) indexed.push(unsignedAt(rest, element));
    else if (id === ids.simpleBlock || id === ids.block) blocks.push(cluster + relativeTime(rest, element));
    else if (id === ids.blockDuration) blocks.push((blocks.at(-1) ?? 0) + unsignedAt(rest, element));
  }
  return blocks.length > 0 ? { ticks: blocks, areBlocks: true } : { ticks: indexed, areBlocks: false };
}

function indexOfId(bytes: Buffer, id: number): number {
  const pattern = Buffer.alloc(4);
  pattern.writeUInt32BE(id);
  return bytes.indexOf(pattern);
}

interface Element extends ElementHeader {
  /** Where its content begins. */
  readonly start: number;
}

/** Consecutive elements, up to the first that isn't one. @param entered whose children come next */
function* elementsIn(bytes: Buffer, entered: readonly number[] = []): Generator<Element, void, undefined> {
  let at = 0;
  for (let count = 0; count < maxElements && at < bytes.length; count += 1) {
    const header = readElementHeader(bytes, at);
    if (!header) return;
    const start = at + header.headerSize;
    yield { ...header, start };
    if (entered.includes(header.id)) at = start;
    else if (header.size === null) return;
    else at = start + header.size;
  }
}

const maxNumberBytes = 6;

function unsignedAt(bytes: Buffer, { start, size }: Element): number {
  if (size === null || size === 0 || size > 8) return 0;
  // The upper bytes of a number of 8 are 0.
  const skipped = Math.max(0, size - maxNumberBytes);
  return bytes.readUIntBE(start + skipped, size - skipped);
}

function floatAt(bytes: Buffer, { start, size }: Element): number | undefined {
  if (size !== 4 && size !== 8) return undefined;
  return size === 4 ? bytes.readFloatBE(start) : bytes.readDoubleBE(start);
}

/** A block begins with its track number and its time in the cluster. */
function relativeTime(bytes: Buffer, { start }: Element): number {
  const trackBytes = Math.clz32(bytes.readUInt8(start)) - 23;
  return bytes.readInt16BE(start + trackBytes);
}
