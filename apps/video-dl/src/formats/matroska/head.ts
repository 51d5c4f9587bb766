import type { CorrectedLength, MediaHead } from '../media-head.js';
import type { PartialFile } from '../partial-file.js';
import { childrenOf, elementsIn, floatIn, matroskaIds, unsignedIn } from './ebml.js';

/** RFC 9559, 5.1. */
const ids = {
  docType: 0x4282,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackType: 0x83,
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

const audioType = 2;
/** Tags, indexes and covers may precede the tracks. */
const maxFrontElements = 64;
const maxFrontBytes = 32 * 1024 ** 2;
const tailBytes = 256 * 1024;

/** How much longer than its last block a file may be. The last frame lasts about as long as those before. */
const maxSurplus = { seconds: 0.5, steps: 2 };
/** With a single time to go by: as long as a long group of pictures. */
const maxUnseenSeconds = 30;

/** @param totalBytes null if only the beginning can be read. @throws MissingBytes */
export function readMatroska(file: PartialFile, totalBytes: number | null): Partial<MediaHead> {
  const front = readFront(file);
  const isAudio = front.trackTypes.length > 0 && front.trackTypes.every((type) => type === audioType);
  return {
    audioFile: front.docType === 'webm' && isAudio ? 'webm' : null,
    correctedLength: totalBytes === null ? null : correctedLength(file, front, totalBytes),
  };
}

/** What precedes the first cluster. */
interface Front {
  docType: string;
  readonly trackTypes: number[];
  /** Where the file ends by its own header; Infinity if that says nothing. */
  endsAt: number;
  tickSeconds: number;
  /** As stated. */
  ticks: number | undefined;
}

function readFront(file: PartialFile): Front {
  const front: Front = {
    docType: '',
    trackTypes: [],
    endsAt: Infinity,
    tickSeconds: 0.001,
    ticks: undefined,
  };
  for (const { id, end, content } of frontOf(file, [matroskaIds.segment])) {
    if (id === matroskaIds.cluster) break;
    if (id === matroskaIds.segment) front.endsAt = end ?? Infinity;
    if (![matroskaIds.header, ids.info, ids.tracks].includes(id)) continue;
    for (const child of childrenOf(content(maxFrontBytes), [ids.track])) {
      if (child.id === ids.docType) front.docType = child.content().toString('latin1');
      else if (child.id === ids.trackType) front.trackTypes.push(unsignedIn(child));
      else if (child.id === ids.scale) front.tickSeconds = unsignedIn(child) / 1e9;
      else if (child.id === ids.duration) front.ticks = floatIn(child);
    }
    if (front.ticks !== undefined && front.trackTypes.length > 0) break;
  }
  return front;
}

/** @param entered whose children come next */
function frontOf(file: PartialFile, entered: readonly number[]): ReturnType<typeof elementsIn> {
  return elementsIn((at, length) => file.read(at, length), entered, maxFrontElements);
}

/**
 * Compares the duration in a complete Matroska file with the times at its end. Some programs cut files, or append
 * to them, without updating it.
 * @returns null if the stated duration may be true
 * @throws MissingBytes
 */
function correctedLength(
  file: PartialFile,
  { ticks: stated, tickSeconds, endsAt }: Front,
  totalBytes: number,
): CorrectedLength | null {
  // A truncated file must not look complete.
  if (stated === undefined || endsAt > totalBytes) return null;
  const offset = Math.max(0, totalBytes - tailBytes);
  const { ticks, areBlocks } = timesIn(file.read(offset, totalBytes - offset));
  const seconds = ticks.map((time) => time * tickSeconds).toSorted((a, b) => a - b);
  const last = seconds.at(-1);
  if (last === undefined) return null;
  const step = seconds.reduce((most, time, index) => Math.max(most, time - (seconds[index - 1] ?? time)), 0);
  const allowed = step > 0 ? maxSurplus.seconds + maxSurplus.steps * step : maxUnseenSeconds;
  const surplus = stated * tickSeconds - last;
  if (surplus <= allowed && surplus >= -maxSurplus.seconds) return null;
  // Some programs, such as mkvmerge, don't count the time before the first block.
  const lead = firstTicks(file) * tickSeconds;
  if (surplus <= allowed && surplus + lead >= -maxSurplus.seconds) return null;
  return { seconds: areBlocks && step > 0 ? Math.round((last + step - lead) * 1e6) / 1e6 : null };
}

/** The time of the first cluster. @throws MissingBytes */
function firstTicks(file: PartialFile): number {
  for (const element of frontOf(file, [matroskaIds.segment, matroskaIds.cluster]))
    if (element.id === ids.clusterTime) return unsignedIn(element);
  return 0;
}

/**
 * The times in the end of a file, which may begin anywhere in a cluster.
 * @returns those of blocks, or else of the index, which has only some of them
 */
function timesIn(tail: Buffer): { ticks: readonly number[]; areBlocks: boolean } {
  const clusterAt = indexOfId(tail, matroskaIds.cluster);
  const at = clusterAt < 0 ? indexOfId(tail, ids.cues) : clusterAt;
  const blocks: number[] = [];
  const indexed: number[] = [];
  let cluster = 0;
  const parents = [matroskaIds.cluster, ids.group, ids.cues, ids.cuePoint];
  for (const element of childrenOf(tail.subarray(at < 0 ? tail.length : at), parents)) {
    const { id } = element;
    if (id === ids.clusterTime) cluster = unsignedIn(element);
    else if (id === ids.cueTime) indexed.push(unsignedIn(element));
    else if (id === ids.simpleBlock || id === ids.block)
      blocks.push(cluster + relativeTime(element.content(10)));
    else if (id === ids.blockDuration) blocks.push((blocks.at(-1) ?? 0) + unsignedIn(element));
  }
  return { ticks: blocks.length > 0 ? blocks : indexed, areBlocks: blocks.length > 0 };
}

function indexOfId(bytes: Buffer, id: number): number {
  const pattern = Buffer.alloc(4);
  pattern.writeUInt32BE(id);
  return bytes.indexOf(pattern);
}

/** A block begins with its track number and its time in the cluster. */
function relativeTime(block: Buffer): number {
  return block.readInt16BE(Math.clz32(block.readUInt8(0)) - 23);
}
