import { childBoxes } from '../box.js';
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
import { ChunkCursor, chunkOffsets, required, SampleClock, sampleSizes, tablesIn } from './sample-tables.js';

/** How much of each track follows the other in a file made of two. */
const interleaveSeconds = 1;
/** Tables about single samples, which don't change when samples move. */
const copiedTables = ['stts', 'ctts', 'cslg', 'stss', 'sdtp', 'stsz', 'sgpd', 'sbgp'];

interface PlacedRun extends SampleRun {
  readonly track: number;
  readonly source: number;
}

/** What the output has of a track. */
export interface TrackSamples {
  readonly runs: readonly SampleRun[];
  /** Sum of all sample durations. */
  readonly seconds: number;
  /** Tables about single samples. */
  readonly tables: readonly Buffer[];
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
  const samples = tracks.map((track) => ({
    ...readSampleRuns(track, files),
    tables: childBoxes(track.stbl.bytes).flatMap(({ type, bytes }) =>
      copiedTables.includes(type) ? [bytes] : [],
    ),
  }));
  return layOutTracks(tracks, samples, { files: files.length, tags });
}

/** @param samples of each track @throws NotRemuxableError */
export function layOutTracks(
  tracks: readonly ChosenTrack[],
  samples: readonly TrackSamples[],
  { files, tags }: { files: number; tags: Tags },
): Layout {
  const isOneFile = files === 1;
  const runs = samples
    .flatMap((table, track) =>
      table.runs.map((run) => ({ ...run, track, source: tracks[track]?.source ?? 0 })),
    )
    .sort(isOneFile ? inFileOrder : inTimeOrder);
  if (isOneFile) assertNoOverlap(runs);
  const mediaBytes = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  const isLarge = mediaBytes > maxUint32 - maxIndexBytes;
  const hasVideo = tracks.some(({ handler }) => handler === 'vide');
  const ftyp = fileType([...(hasVideo ? [] : ['M4A ']), 'isom', 'iso2', 'mp41']);
  const mdatHeader = isLarge
    ? Buffer.concat([uint32(1), Buffer.from('mdat'), uint64(mediaBytes + 16)])
    : Buffer.concat([uint32(mediaBytes + 8), Buffer.from('mdat')]);
  const movieAt = (base: number) => {
    const offsets = placed(runs, tracks.length, base);
    return movieBox(
      tracks,
      samples.map(({ seconds, tables, runs: own }, index) => ({
        mediaSeconds: seconds,
        tables: [...tables, chunkTable(own), offsetTable(offsets[index] ?? [], isLarge)],
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
    tracks: tracks.map((track, index) => laidOut(track, samples[index]?.seconds ?? 0)),
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
export interface SampleRun {
  /** In the source file. */
  readonly offset: number;
  bytes: number;
  samples: number;
  /** Number of the sample description, counted from 1. */
  readonly description: number;
  /** Decode time of the first sample, in seconds. */
  readonly startSeconds: number;
}

/** Players keep the beginning of every chunk in memory, and their number is under the site's control. */
const maxRuns = 200_000;
export const maxSamples = 4_000_000;

/**
 * Reads where the samples of a track are (ISO 14496-12, 8.6.1.2, 8.7.2 to 8.7.5).
 *
 * @param wants whether the output has a sample; absent for all
 * @throws NotRemuxableError when the tables contradict each other or the size of the file; RangeError for a damaged box
 */
export function readSampleRuns(
  { stbl, timescale, descriptions, source }: ChosenTrack,
  files: readonly SourceFile[],
  wants: (sample: number) => boolean = () => true,
): Omit<TrackSamples, 'tables'> {
  const totalBytes = files[source]?.totalBytes ?? 0;
  // Runs of two files are interleaved.
  const maxRunSeconds = files.length === 1 ? Infinity : interleaveSeconds;
  const find = tablesIn(stbl);
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
      const bytes = sizes.at(sample);
      const startSeconds = clock.time / timescale;
      clock.advance();
      if (!wants(sample)) {
        offset += bytes;
        run = undefined;
        continue;
      }
      if (run === undefined || startSeconds - run.startSeconds >= maxRunSeconds) {
        run = { offset, bytes: 0, samples: 0, description, startSeconds };
        runs.push(run);
        if (runs.length > maxRuns) throw new NotRemuxableError('it has too many chunks');
      }
      run.bytes += bytes;
      run.samples += 1;
      offset += bytes;
    }
    end = offset;
    if (end > totalBytes) throw new NotRemuxableError('its samples extend past its end');
  }
  if (sample !== sizes.count || !clock.isAtEnd) throw new NotRemuxableError('its tables differ in length');
  if (sample === 0) throw new NotRemuxableError('a track has no samples');
  return { runs, seconds: clock.time / timescale };
}
