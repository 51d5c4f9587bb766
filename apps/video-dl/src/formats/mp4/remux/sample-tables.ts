import { type Box, findBox, Mp4FormatError, requiredBox } from '../box.js';
import { isSelfContained, type Mp4Track } from '../movie-header.js';

/** A part of a file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the samples of a movie are in its file, chunk by chunk. Fragments have their own.
 * @throws Mp4FormatError when the tables contradict each other, or media are in another file; RangeError for a damaged box
 */
export function* sampleSpans(tracks: readonly Mp4Track[]): Generator<Span> {
  for (const track of tracks) {
    if (!isSelfContained(track)) throw new Mp4FormatError('its media are in another file');
    const sizes = sampleSizes(track.stbl);
    for (const { offset, first, end } of chunksOf(track.stbl))
      yield { start: offset, end: offset + sizes.sum(first, end) };
  }
}

/** Samples of a track that follow each other in its file. */
export interface Chunk {
  readonly offset: number;
  /** Number of its first sample, counted from 0, and of the first one after it. */
  readonly first: number;
  readonly end: number;
  /** Number of the sample description, counted from 1. */
  readonly description: number;
}

/** The chunks of a track (ISO 14496-12, 8.7.4, 8.7.5). @throws Mp4FormatError, RangeError for a damaged box */
export function* chunksOf(stbl: Box): Generator<Chunk> {
  const { count: samples } = sampleSizes(stbl);
  if (samples === 0) return;
  const { type, bytes: offsets } = findBox(stbl, 'stco') ?? requiredBox(stbl, 'co64');
  const count = offsets.readUInt32BE(12);
  assertHolds(offsets, 16, count, type === 'stco' ? 4 : 8);
  // Runs of chunks with the same number of samples.
  const runs = requiredBox(stbl, 'stsc').bytes;
  const runCount = runs.readUInt32BE(12);
  assertHolds(runs, 16, runCount, 12);
  const firstOf = (run: number) => (run < runCount ? runs.readUInt32BE(16 + 12 * run) : Infinity);
  if (firstOf(0) !== 1) throw new Mp4FormatError("its chunks don't start with the first");
  let [run, first] = [0, 0];
  for (let chunk = 0; chunk < count; chunk += 1) {
    while (firstOf(run + 1) <= chunk + 1) run += 1;
    const end = Math.min(samples, first + runs.readUInt32BE(20 + 12 * run));
    const offset =
      type === 'stco'
        ? offsets.readUInt32BE(16 + 4 * chunk)
        : Number(offsets.readBigUInt64BE(16 + 8 * chunk));
    yield { offset, first, end, description: runs.readUInt32BE(24 + 12 * run) };
    first = end;
  }
  if (first < samples) throw new Mp4FormatError('its tables differ in length');
}

interface SampleSizes {
  readonly count: number;
  at(index: number): number;
  /** Total bytes of the samples from `from` to `to`, exclusive. */
  sum(from: number, to: number): number;
}

/** @throws Mp4FormatError, RangeError for a damaged box */
export function sampleSizes(stbl: Box): SampleSizes {
  const { bytes } = requiredBox(stbl, 'stsz');
  const [same, count] = [bytes.readUInt32BE(12), bytes.readUInt32BE(16)];
  if (same !== 0) return { count, at: () => same, sum: (from, to) => (to - from) * same };
  assertHolds(bytes, 20, count, 4);
  const at = (index: number) => bytes.readUInt32BE(20 + 4 * index);
  const sum = (from: number, to: number) => {
    let total = 0;
    for (let index = from; index < to; index += 1) total += at(index);
    return total;
  };
  return { count, at, sum };
}

const maxSamples = 4_000_000;

/**
 * When each sample is decoded, in the track's units, and when the last one ends (8.6.1.2).
 * @throws Mp4FormatError if they are too many, or the table lists another number; RangeError for a damaged box
 */
export function decodeTimes(stbl: Box): Float64Array {
  const { count } = sampleSizes(stbl);
  if (count > maxSamples || count === 0) throw new Mp4FormatError('it has too many samples, or none');
  const durations = requiredBox(stbl, 'stts').bytes;
  const times = new Float64Array(count + 1);
  let [index, stated] = [0, 0];
  for (const { samples, valueAt } of runsIn(durations)) {
    stated += samples;
    const end = Math.min(count, stated);
    const duration = durations.readUInt32BE(valueAt);
    for (; index < end; index += 1) times[index + 1] = (times[index] ?? 0) + duration;
  }
  if (stated !== count) throw new Mp4FormatError('its tables differ in length');
  return times;
}

/** Runs of samples with the same value in `stts` or `ctts`. */
export function* runsIn(table: Buffer): Generator<{ samples: number; valueAt: number }> {
  const entries = table.readUInt32BE(12);
  assertHolds(table, 16, entries, 8);
  for (let at = 16; at < 16 + 8 * entries; at += 8)
    yield { samples: table.readUInt32BE(at), valueAt: at + 4 };
}

export function assertHolds(table: Buffer, start: number, count: number, entryBytes: number): void {
  if (start + count * entryBytes > table.length)
    throw new Mp4FormatError('a table has fewer entries than stated');
}
