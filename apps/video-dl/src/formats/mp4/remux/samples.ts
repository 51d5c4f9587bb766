import { type Box, childBoxes, findBox } from '../box.js';
import { type Layout, NotRemuxableError, type SourceFile } from './layout.js';
import {
  type ChosenTrack,
  fileType,
  fullBox,
  laidOut,
  movieBox,
  tagsBox,
  uint32,
  uint64,
  type Tags,
} from './movie-boxes.js';

/** How much of each track follows the other in a file made of two. */
const interleaveSeconds = 1;
/** Tables about single samples, which don't change when samples move. */
const copiedTables = ['stts', 'ctts', 'cslg', 'stss', 'sdtp', 'stsz', 'sgpd', 'sbgp'];

interface PlacedRun extends SampleRun {
  readonly track: number;
  readonly source: number;
}

/**
 * Lays out an MP4 with its index first (ISO 14496-12, 8.7) from files with sample tables.
 * @throws NotRemuxableError, Mp4FormatError, RangeError
 */
export function layOutSamples(
  files: readonly SourceFile[],
  tracks: readonly ChosenTrack[],
  tags: Tags,
): Layout {
  const isOneFile = files.length === 1;
  const tables = tracks.map(({ stbl, timescale, descriptions, source }) =>
    readSampleRuns(stbl, {
      timescale,
      descriptions,
      totalBytes: files[source]?.totalBytes ?? 0,
      maxRunSeconds: isOneFile ? Infinity : interleaveSeconds,
    }),
  );
  const runs = tables
    .flatMap((table, track) =>
      table.runs.map((run) => ({ ...run, track, source: tracks[track]?.source ?? 0 })),
    )
    .sort(isOneFile ? inFileOrder : inTimeOrder);
  if (isOneFile) assertNoOverlap(runs);
  const mediaBytes = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  const isLarge = mediaBytes > maxUint32 - maxIndexBytes;
  const ftyp = fileType(['isom', 'iso2', 'mp41']);
  const mdatHeader = isLarge
    ? Buffer.concat([uint32(1), Buffer.from('mdat'), uint64(mediaBytes + 16)])
    : Buffer.concat([uint32(mediaBytes + 8), Buffer.from('mdat')]);
  const movieAt = (base: number) => {
    const offsets = placed(runs, tracks.length, base);
    return movieBox(
      tracks,
      tracks.map((track, index) => ({
        mediaSeconds: tables[index]?.seconds ?? 0,
        tables: [
          ...childBoxes(track.stbl.bytes).flatMap(({ type, bytes }) =>
            copiedTables.includes(type) ? [bytes] : [],
          ),
          chunkTable(tables[index]?.runs ?? []),
          offsetTable(offsets[index] ?? [], isLarge),
        ],
      })),
      tagsBox(tags),
    );
  };
  // The size of the index doesn't depend on the offsets in it.
  const base = ftyp.length + movieAt(0).length + mdatHeader.length;
  const pieces = joined(runs);
  return {
    header: Buffer.concat([ftyp, movieAt(base), mdatHeader]),
    sources: Uint8Array.from(pieces, ({ source }) => source),
    offsets: Float64Array.from(pieces, ({ offset }) => offset),
    lengths: Float64Array.from(pieces, ({ bytes }) => bytes),
    tracks: tracks.map((track, index) => laidOut(track, tables[index]?.seconds ?? 0)),
    fragmentTracks: null,
  };
}

const maxUint32 = 0xffff_ffff;
/** More than any index that we send. */
const maxIndexBytes = 64 * 1024 ** 2;

function inFileOrder(a: SampleRun, b: SampleRun): number {
  return a.offset - b.offset;
}

function inTimeOrder(a: PlacedRun, b: PlacedRun): number {
  return a.startSeconds - b.startSeconds || a.track - b.track;
}

/** Otherwise tracks could share bytes, and the output would be larger than the file. */
function assertNoOverlap(runs: readonly PlacedRun[]): void {
  let end = 0;
  for (const { offset, bytes } of runs) {
    if (offset < end) throw new NotRemuxableError('its tracks overlap');
    end = offset + bytes;
  }
}

/** The offsets of each track's chunks in the output. */
function placed(runs: readonly PlacedRun[], tracks: number, base: number): number[][] {
  const offsets: number[][] = Array.from({ length: tracks }, () => []);
  let at = base;
  for (const { track, bytes } of runs) {
    offsets[track]?.push(at);
    at += bytes;
  }
  return offsets;
}

/** `stsc`, which lists only chunks that differ from the one before. */
function chunkTable(runs: readonly SampleRun[]): Buffer {
  const entries: Buffer[] = [];
  let last: SampleRun | undefined;
  for (const [index, run] of runs.entries()) {
    if (run.samples !== last?.samples || run.description !== last.description)
      entries.push(Buffer.concat([uint32(index + 1), uint32(run.samples), uint32(run.description)]));
    last = run;
  }
  return fullBox('stsc', 0, 0, [uint32(entries.length), ...entries]);
}

function offsetTable(offsets: readonly number[], isLarge: boolean): Buffer {
  const table = Buffer.alloc(offsets.length * (isLarge ? 8 : 4));
  for (const [index, offset] of offsets.entries())
    if (isLarge) table.writeBigUInt64BE(BigInt(offset), 8 * index);
    else table.writeUInt32BE(offset, 4 * index);
  return fullBox(isLarge ? 'co64' : 'stco', 0, 0, [uint32(offsets.length), table]);
}

/** Runs that follow each other in the source as in the output are read together. */
function joined(runs: readonly PlacedRun[]): { source: number; offset: number; bytes: number }[] {
  const pieces: { source: number; offset: number; bytes: number }[] = [];
  for (const { source, offset, bytes } of runs) {
    const last = pieces.at(-1);
    if (last?.source === source && last.offset + last.bytes === offset) last.bytes += bytes;
    else pieces.push({ source, offset, bytes });
  }
  return pieces;
}

/** Consecutive samples of a track that are stored together: a chunk of the output. */
interface SampleRun {
  /** In the source file. */
  readonly offset: number;
  bytes: number;
  samples: number;
  /** Number of the sample description, counted from 1. */
  readonly description: number;
  /** Decode time of the first sample, in seconds. */
  readonly startSeconds: number;
}

interface SampleTable {
  readonly runs: readonly SampleRun[];
  /** Sum of all sample durations. */
  readonly seconds: number;
}

interface RunOptions {
  readonly timescale: number;
  readonly descriptions: number;
  readonly totalBytes: number;
  readonly maxRunSeconds: number;
}

/** Players keep the beginning of every chunk in memory, and their number is under the site's control. */
const maxRuns = 200_000;
const maxSamples = 4_000_000;

/**
 * Reads where the samples of a track are (ISO 14496-12, 8.6.1.2, 8.7.2 to 8.7.5).
 *
 * @param stbl the track's sample table
 * @param options.timescale units per second of the track's times
 * @param options.maxRunSeconds splits longer runs, so that two files can be interleaved
 * @throws NotRemuxableError when the tables contradict each other or the size of the file; RangeError for a damaged box
 */
function readSampleRuns(
  stbl: Box,
  { timescale, descriptions, totalBytes, maxRunSeconds }: RunOptions,
): SampleTable {
  const tables = childBoxes(stbl.bytes);
  const find = (type: string) => tables.find((table) => table.type === type)?.bytes;
  const sizes = sampleSizes(required(find('stsz'), 'sample sizes'));
  if (sizes.count > maxSamples) throw new NotRemuxableError('it has too many samples');
  const clock = new SampleClock(required(find('stts'), 'sample durations'));
  const offsets = chunkOffsets(find('stco'), find('co64'));
  const samplesPerChunk = new ChunkCursor(required(find('stsc'), 'chunks'));
  const runs: SampleRun[] = [];
  let sample = 0;
  let end = 0;
  for (let chunk = 0; chunk < offsets.count; chunk += 1) {
    const { count, description } = samplesPerChunk.at(chunk + 1);
    if (count === 0) continue;
    let offset = offsets.at(chunk);
    if (offset < end) throw new NotRemuxableError("its samples aren't stored in the order of their times");
    if (description < 1 || description > descriptions)
      throw new NotRemuxableError('a sample has no description');
    if (sample + count > sizes.count) throw new NotRemuxableError('it has fewer samples than chunks state');
    let run: SampleRun | undefined;
    for (let index = 0; index < count; index += 1, sample += 1) {
      const startSeconds = clock.time / timescale;
      if (run === undefined || startSeconds - run.startSeconds >= maxRunSeconds) {
        run = { offset, bytes: 0, samples: 0, description, startSeconds };
        runs.push(run);
        if (runs.length > maxRuns) throw new NotRemuxableError('it has too many chunks');
      }
      const bytes = sizes.at(sample);
      run.bytes += bytes;
      run.samples += 1;
      offset += bytes;
      clock.advance();
    }
    end = offset;
    if (end > totalBytes) throw new NotRemuxableError('its samples extend past its end');
  }
  if (sample !== sizes.count || !clock.isAtEnd) throw new NotRemuxableError('its tables differ in length');
  if (sample === 0) throw new NotRemuxableError('a track has no samples');
  return { runs, seconds: clock.time / timescale };
}

/** A part of a file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the samples of a movie are in its file, chunk by chunk (ISO 14496-12, 8.7). Fragments have their own.
 * @throws NotRemuxableError when the tables contradict each other, or media are in another file; RangeError for a damaged box
 */
export function* chunksOf(moov: Buffer): Generator<Span> {
  for (const trak of childBoxes(moov)) {
    if (trak.type !== 'trak') continue;
    const dataReference = findBox(trak, 'mdia', 'minf', 'dinf', 'dref')?.bytes;
    // The flag says that the media are in the same file.
    if (dataReference !== undefined && (dataReference.readUInt32BE(24) & 1) === 0)
      throw new NotRemuxableError('its media are in another file');
    const stbl = findBox(trak, 'mdia', 'minf', 'stbl');
    if (stbl !== undefined) yield* chunksOfTrack(stbl);
  }
}

function* chunksOfTrack(stbl: Box): Generator<Span> {
  const tables = childBoxes(stbl.bytes);
  const find = (type: string) => tables.find((table) => table.type === type)?.bytes;
  const sizes = sampleSizes(required(find('stsz'), 'sample sizes'));
  if (sizes.count === 0) return;
  const offsets = chunkOffsets(find('stco'), find('co64'));
  const samplesPerChunk = new ChunkCursor(required(find('stsc'), 'chunks'));
  let sample = 0;
  for (let chunk = 0; chunk < offsets.count; chunk += 1) {
    const next = Math.min(sizes.count, sample + samplesPerChunk.at(chunk + 1).count);
    const start = offsets.at(chunk);
    yield { start, end: start + sizes.sum(sample, next) };
    sample = next;
  }
  if (sample < sizes.count) throw new NotRemuxableError('its tables differ in length');
}

function required(table: Buffer | undefined, what: string): Buffer {
  if (table === undefined) throw new NotRemuxableError(`it has no table of ${what}`);
  return table;
}

interface Column {
  readonly count: number;
  at(index: number): number;
}

interface SampleSizes extends Column {
  /** Total bytes of the samples from `from` to `to`, exclusive. */
  sum(from: number, to: number): number;
}

function sampleSizes(stsz: Buffer): SampleSizes {
  const [same, count] = [stsz.readUInt32BE(12), stsz.readUInt32BE(16)];
  if (same !== 0) return { count, at: () => same, sum: (from, to) => (to - from) * same };
  assertHolds(stsz, 20, count, 4);
  const at = (index: number) => stsz.readUInt32BE(20 + 4 * index);
  const sum = (from: number, to: number) => {
    let bytes = 0;
    for (let index = from; index < to; index += 1) bytes += at(index);
    return bytes;
  };
  return { count, at, sum };
}

function chunkOffsets(stco: Buffer | undefined, co64: Buffer | undefined): Column {
  const table = required(stco ?? co64, 'chunk offsets');
  const count = table.readUInt32BE(12);
  if (stco !== undefined) {
    assertHolds(stco, 16, count, 4);
    return { count, at: (index) => stco.readUInt32BE(16 + 4 * index) };
  }
  assertHolds(table, 16, count, 8);
  return { count, at: (index) => Number(table.readBigUInt64BE(16 + 8 * index)) };
}

function assertHolds(table: Buffer, start: number, count: number, entryBytes: number): void {
  if (start + count * entryBytes > table.length)
    throw new NotRemuxableError('a table has fewer entries than stated');
}

/** Steps through `stts`: runs of samples with the same duration. */
class SampleClock {
  time = 0;
  readonly #table: Buffer;
  readonly #entries: number;
  #next = 0;
  #left = 0;
  #duration = 0;

  constructor(stts: Buffer) {
    this.#table = stts;
    this.#entries = stts.readUInt32BE(12);
    assertHolds(stts, 16, this.#entries, 8);
  }

  get isAtEnd(): boolean {
    while (this.#left === 0 && this.#next < this.#entries) this.#load();
    return this.#left === 0;
  }

  advance(): void {
    if (this.isAtEnd) throw new NotRemuxableError('it has more samples than durations');
    this.#left -= 1;
    this.time += this.#duration;
  }

  #load(): void {
    const at = 16 + 8 * this.#next;
    this.#left = this.#table.readUInt32BE(at);
    this.#duration = this.#table.readUInt32BE(at + 4);
    this.#next += 1;
  }
}

/** Steps through `stsc`: runs of chunks with the same number of samples. */
class ChunkCursor {
  readonly #table: Buffer;
  readonly #entries: number;
  #entry = 0;

  constructor(stsc: Buffer) {
    this.#table = stsc;
    this.#entries = stsc.readUInt32BE(12);
    assertHolds(stsc, 16, this.#entries, 12);
    if (this.#entries === 0 || this.#firstChunk(0) !== 1)
      throw new NotRemuxableError("its chunks don't start with the first");
  }

  /** @param chunk counted from 1; must not decrease */
  at(chunk: number): { count: number; description: number } {
    while (this.#entry + 1 < this.#entries && this.#firstChunk(this.#entry + 1) <= chunk) this.#entry += 1;
    const at = 16 + 12 * this.#entry;
    return { count: this.#table.readUInt32BE(at + 4), description: this.#table.readUInt32BE(at + 8) };
  }

  #firstChunk(entry: number): number {
    return this.#table.readUInt32BE(16 + 12 * entry);
  }
}
