import { childBoxes, findBox, isDamage } from './mp4/box.js';
import { FragmentClock } from './mp4/fragment-clock.js';
import { readMovieHeader } from './mp4/movie-header.js';
import { statedSeconds } from './mp4/movie-summary.js';
import type { PartialFile, Sample } from './partial-file.js';

/** How a format counts its time. */
export interface Clock {
  /** How many samples of the file it needs. */
  readonly samples: number;
  /** Whether the clock runs forward from the beginning to the end, as in a file that wasn't joined from several. */
  isSteady(samples: readonly Sample[]): boolean;
}

/** The clock of the format that starts like this; undefined if it has none that can be found anywhere in the file. */
export function clockOf(start: Buffer): Clock | undefined {
  const packetBytes = transportPacketBytes(start);
  if (packetBytes !== undefined) return transportClock(packetBytes);
  const name = start.toString('latin1', 0, 4);
  if (name === 'OggS') return oggClock;
  return name === 'fLaC' && start.length >= 42 ? flacClock(start) : undefined;
}

/** A place in the file with its time. */
interface Mark {
  readonly at: number;
  readonly seconds: number;
}

/** Broadcasts must send a clock every 0.1 s. Slide shows send it with each picture. */
const maxNearSeconds = 10;
const maxNearBytes = 128 * 1024;
/** The bit rate changes with the content, but a part between two samples is long enough to be like the others. */
const maxSecondsRatio = { less: 8, more: 4 };

/** Whether the times rise, and without a jump between two places. */
function rises(marks: readonly Mark[]): boolean {
  const steps = marks.slice(1).map(({ at, seconds }, index) => {
    const before = marks[index] ?? { at, seconds };
    return { bytes: at - before.at, seconds: seconds - before.seconds };
  });
  const far = steps.filter(({ bytes }) => bytes > maxNearBytes);
  const rates = far.map(({ bytes, seconds }) => seconds / bytes).toSorted((a, b) => a - b);
  const usualRate = rates[Math.floor((rates.length - 1) / 2)] ?? 0;
  return steps.every(({ bytes, seconds }) => {
    const usualSeconds = bytes > maxNearBytes ? usualRate * bytes : 0;
    const maxSeconds = maxNearSeconds + usualSeconds * maxSecondsRatio.more;
    return seconds >= usualSeconds / maxSecondsRatio.less && seconds <= maxSeconds;
  });
}

const syncByte = 0x47;

/** Size of a transport stream's packets: plain, with a time in front (Blu-ray), or with error correction behind. */
function transportPacketBytes(start: Buffer): number | undefined {
  return [188, 192, 204].find((size) => {
    const first = size === 192 ? 4 : 0;
    return start[first] === syncByte && start[first + size] === syncByte;
  });
}

const ticksPerSecond = 90_000;
/** The clock has 33 bits. */
const wrapSeconds = 2 ** 33 / ticksPerSecond;

/** The clock references of a transport stream (ISO 13818-1, 2.4.3.5). */
function transportClock(packetBytes: number): Clock {
  return {
    samples: 9,
    isSteady: (samples) => {
      const perSample = samples.map((sample) => clockReferences(sample, packetBytes));
      const pid = perSample.flat()[0]?.pid;
      const ofProgram = perSample.map((references) => references.filter((found) => found.pid === pid));
      // Another program follows.
      if (ofProgram.some((own, index) => own.length === 0 && perSample[index]?.length !== 0)) return false;
      return rises(withoutWraps(ofProgram.flat()));
    },
  };
}

function withoutWraps(marks: readonly Mark[]): Mark[] {
  let wraps = 0;
  return marks.map(({ at, seconds }, index) => {
    if (seconds < (marks[index - 1]?.seconds ?? 0) - wrapSeconds / 2) wraps += 1;
    return { at, seconds: seconds + wraps * wrapSeconds };
  });
}

function clockReferences({ offset, bytes }: Sample, packetBytes: number): (Mark & { pid: number })[] {
  const found: (Mark & { pid: number })[] = [];
  const isPacket = (at: number) => bytes[at] === syncByte;
  let at = 0;
  while (at + packetBytes < bytes.length) {
    if (!isPacket(at) || !isPacket(at + packetBytes)) {
      at += 1;
      continue;
    }
    const hasAdaptation = (bytes.readUInt8(at + 3) & 0x20) !== 0 && bytes.readUInt8(at + 4) >= 7;
    if (hasAdaptation && (bytes.readUInt8(at + 5) & 0x10) !== 0) {
      const ticks = bytes.readUInt32BE(at + 6) * 2 + (bytes.readUInt8(at + 10) >> 7);
      const pid = bytes.readUInt16BE(at + 1) & 0x1fff;
      found.push({ at: offset + at, seconds: ticks / ticksPerSecond, pid });
    }
    at += packetBytes;
  }
  return found;
}

const beginsStream = 0x02;
const pageHeaderBytes = 27;

/** The granule positions of Ogg's pages (RFC 3533, 6). A later link of a chain has its own streams. */
const oggClock: Clock = {
  samples: 5,
  isSteady: (samples) => {
    const positions = new Map<number, bigint>();
    let hasMedia = false;
    for (const { flags, serial, position } of samples.flatMap(pagesIn)) {
      const isFirst = (flags & beginsStream) !== 0;
      const before = positions.get(serial);
      if (isFirst ? hasMedia : before === undefined || position < before) return false;
      hasMedia = !isFirst;
      positions.set(serial, position);
    }
    return true;
  },
};

/** The pages in which a packet ends. */
function pagesIn({ bytes }: Sample): { flags: number; serial: number; position: bigint }[] {
  const found = [];
  let at = bytes.indexOf('OggS');
  while (at >= 0 && at + pageHeaderBytes <= bytes.length) {
    const end = pageEnd(bytes, at);
    const isPage = end + 4 > bytes.length || bytes.toString('latin1', end, end + 4) === 'OggS';
    const position = bytes.readBigInt64LE(at + 6);
    if (isPage && position >= 0n)
      found.push({ flags: bytes.readUInt8(at + 5), serial: bytes.readUInt32LE(at + 14), position });
    at = bytes.indexOf('OggS', isPage ? end : at + 1);
  }
  return found;
}

function pageEnd(bytes: Buffer, at: number): number {
  const content = at + pageHeaderBytes + bytes.readUInt8(at + 26);
  return bytes.subarray(at + pageHeaderBytes, content).reduce((sum, lacing) => sum + lacing, content);
}

/** What a FLAC file says about its frames (RFC 9639, 8.2). */
interface FlacInfo {
  readonly maxBlock: number;
  readonly sampleRate: number;
  /** 0 if unknown. */
  readonly totalSamples: number;
}

/** The numbers of FLAC's frames. */
function flacClock(start: Buffer): Clock {
  const info: FlacInfo = {
    maxBlock: start.readUInt16BE(10),
    sampleRate: start.readUIntBE(18, 3) >>> 4,
    totalSamples: (start.readUInt8(21) & 15) * 2 ** 32 + start.readUInt32BE(22),
  };
  return {
    samples: 5,
    isSteady: (samples) => {
      const found = samples.flatMap((sample) => positionsIn(sample, info));
      const isInside = found.every((position) => info.totalSamples === 0 || position < info.totalSamples);
      return isInside && found.every((position, index) => position >= (found[index - 1] ?? 0));
    },
  };
}

const maxBlockSamples = 65_535;

/** The first sample of each frame, without what only looks like the beginning of one. */
function positionsIn({ bytes }: Sample, info: FlacInfo): number[] {
  const found: number[] = [];
  let at = bytes.indexOf(0xff);
  while (at >= 0 && at + maxFlacHeaderBytes <= bytes.length) {
    const position = flacPosition(bytes, at, info);
    if (position !== undefined) found.push(position);
    at = bytes.indexOf(0xff, at + 1);
  }
  const isNear = (position: number, other = Infinity) => Math.abs(position - other) <= maxBlockSamples;
  return found.filter(
    (position, index) => isNear(position, found[index - 1]) || isNear(position, found[index + 1]),
  );
}

const maxFlacHeaderBytes = 16;
const flacRates = [0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/** The first sample of the frame at `at`; undefined if none starts there (RFC 9639, 9.1). */
function flacPosition(bytes: Buffer, at: number, info: FlacInfo): number | undefined {
  const word = bytes.readUInt32BE(at);
  if (word >>> 17 !== 0x7ffc || (word & 1) !== 0) return undefined;
  const [isVariable, blockCode, rateCode] = [(word >>> 16) & 1, (word >>> 12) & 15, (word >>> 8) & 15];
  const rate = flacRates[rateCode];
  if (blockCode === 0 || rateCode === 15 || (rate && rate !== info.sampleRate)) return undefined;
  const number = readCodedNumber(bytes, at + 4);
  if (number === undefined) return undefined;
  const blockBytes = blockCode === 6 ? 1 : blockCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  const end = at + 4 + number.bytes + blockBytes + rateBytes;
  if (checksum(bytes.subarray(at, end)) !== bytes[end]) return undefined;
  return isVariable === 1 ? number.value : number.value * info.maxBlock;
}

/** A number coded like a character of UTF-8, with up to 36 bits. */
function readCodedNumber(bytes: Buffer, at: number): { value: number; bytes: number } | undefined {
  const first = bytes.readUInt8(at);
  const ones = Math.clz32(~(first << 24));
  if (ones === 0) return { value: first, bytes: 1 };
  if (ones === 1 || ones === 8) return undefined;
  const rest = bytes.subarray(at + 1, at + ones);
  if (rest.some((byte) => byte >> 6 !== 2)) return undefined;
  const value = rest.reduce((sum, byte) => sum * 64 + (byte & 0x3f), first & (0x7f >> ones));
  return { value, bytes: ones };
}

/** CRC-8 with the generator 0x07. */
function checksum(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value & 0x80 ? 0x107 : 0);
  }
  return value & 0xff;
}

const fragmentSamples = 5;
/** More in one sample are too small to matter. */
const maxFragmentsInSample = 256;
/** `moof` of one fragment up to its decode times. */
const maxFragmentHeadBytes = 64 * 1024;

/**
 * The decode times of an MP4 in fragments. In files that were joined they start over, and players
 * ignore or mix up all but the first file.
 * @returns `unknown` if fragments are so long that a place of the file shows none
 * @throws MissingBytes
 */
export function fragmentTimes(file: PartialFile, totalBytes: number): 'steady' | 'restart' | 'unknown' {
  const last = new Map<number, bigint>();
  const samples = file.samples(0, totalBytes, fragmentSamples);
  let isKnown = true;
  for (const { offset, bytes } of samples) {
    let previous = 0;
    const isLast = offset + bytes.length === totalBytes;
    if (!isLast && !bytes.includes('moof')) isKnown = false;
    let at = bytes.indexOf('moof');
    for (let count = 0; at >= 0 && count < maxFragmentsInSample; count += 1) {
      const hasOwnHeader = bytes.subarray(previous, at).includes('mvhd');
      for (const [track, time] of decodeTimes(
        bytes.subarray(Math.max(0, at - 4), at + maxFragmentHeadBytes),
      )) {
        const before = last.get(track) ?? -1n;
        if (time < before || (hasOwnHeader && time === before)) return 'restart';
        last.set(track, time);
      }
      previous = at;
      at = bytes.indexOf('moof', at + 4);
    }
  }
  return isKnown ? 'steady' : 'unknown';
}

/** By track. Empty for bytes that only look like a fragment. */
function decodeTimes(bytes: Buffer): Map<number, bigint> {
  const times = new Map<number, bigint>();
  try {
    const moof = bytes.subarray(0, bytes.readUInt32BE(0));
    for (const traf of childBoxes(moof)) {
      if (traf.type !== 'traf') continue;
      const head = findBox(traf, 'tfhd')?.bytes;
      const time = findBox(traf, 'tfdt')?.bytes;
      if (head === undefined || time === undefined) continue;
      const isLong = time.readUInt8(8) === 1;
      times.set(head.readUInt32BE(12), isLong ? time.readBigUInt64BE(12) : BigInt(time.readUInt32BE(12)));
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return times;
}

/** The end of a file that is read if a sample of it shows no whole fragment. */
const tailBytes = 1024 ** 2;
/** How much earlier than stated the last fragment may end. */
const maxMissingSeconds = 0.5;

/**
 * Whether an MP4 in fragments ends with a whole one, which is as late as its movie states.
 * @throws MissingBytes
 */
export function endsWithLastFragment(file: PartialFile, totalBytes: number, movie: Buffer): boolean {
  const sample = file.samples(0, totalBytes, fragmentSamples).at(-1)?.bytes ?? Buffer.alloc(0);
  const tailAt = Math.max(0, totalBytes - tailBytes);
  const fragment = lastFragment(sample) ?? lastFragment(file.read(tailAt, totalBytes - tailAt));
  if (fragment === undefined) return false;
  try {
    const clock = new FragmentClock(readMovieHeader(movie).tracks);
    clock.begin(fragment.length - 8);
    clock.push(fragment.subarray(8));
    clock.end();
    const end = Math.max(...clock.progress.map(({ endSeconds }) => endSeconds));
    return end >= statedSeconds(movie) - maxMissingSeconds;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** The last `moof` box that whole boxes with media follow up to the end of the file. */
function lastFragment(end: Buffer): Buffer | undefined {
  let at = end.lastIndexOf('moof');
  for (let count = 0; at >= 4 && count < maxFragmentsInSample; count += 1) {
    const boxes = boxesFrom(end.subarray(at - 4));
    if (boxes?.some(({ type }) => type === 'mdat') === true) return boxes[0]?.bytes;
    at = end.lastIndexOf('moof', at - 1);
  }
  return undefined;
}

/** Undefined if they don't end with the bytes, or the last one may have lost its end. */
function boxesFrom(bytes: Buffer): ReturnType<typeof childBoxes> | undefined {
  try {
    return childBoxes(bytes, 0);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}
