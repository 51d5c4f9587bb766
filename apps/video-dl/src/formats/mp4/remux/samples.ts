import { childBoxes, fullBox, uint32, uint64 } from '../box.js';
import { type Layout, NotRemuxableError, type SourceFile } from './layout.js';
import { fileType, layoutOf, movieBox, type OutputTrack, type Tags, tagsBox } from './movie-boxes.js';
import type { SourceTrack } from './source-tracks.js';
import { chunksOf, decodeTimes, sampleSizes } from './sample-tables.js';

/** How much of each track follows the other in a file made of two. */
const interleaveSeconds = 1;
/** Tables about single samples, which don't change when samples move. */
const copiedTables = ['stts', 'ctts', 'cslg', 'stss', 'sdtp', 'stsz', 'sgpd', 'sbgp'];

/** A track of the output whose samples are in chunks. */
export interface SampledTrack extends OutputTrack {
  readonly runs: readonly SampleRun[];
}

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
  tracks: readonly SourceTrack[],
  tags: Tags,
): Layout {
  const sampled = tracks.map((track) => {
    const tables = childBoxes(track.stbl.bytes).filter(({ type }) => copiedTables.includes(type));
    return { ...track, ...readSampleRuns(track, files), tables: tables.map(({ bytes }) => bytes) };
  });
  return layOutTracks(sampled, tags);
}

/** @throws NotRemuxableError */
export function layOutTracks(tracks: readonly SampledTrack[], tags: Tags): Layout {
  const isOneFile = new Set(tracks.map(({ source }) => source)).size === 1;
  const runs = tracks
    .flatMap((track, index) => track.runs.map((run) => ({ ...run, track: index, source: track.source })))
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
    const withChunks = tracks.map((track, index) => {
      const chunks = [chunkTable(track.runs), offsetTable(offsets[index] ?? [], isLarge)];
      return { ...track, tables: [...track.tables, ...chunks] };
    });
    return movieBox(withChunks, tagsBox(tags));
  };
  // The size of the index doesn't depend on the offsets in it.
  const base = ftyp.length + movieAt(0).length + mdatHeader.length;
  return layoutOf(tracks, [ftyp, movieAt(base), mdatHeader], joined(runs));
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

/**
 * Reads where the samples of a track are (ISO 14496-12, 8.6.1.2, 8.7.2 to 8.7.5).
 *
 * @param wants whether the output has a sample; absent for all
 * @throws NotRemuxableError when the tables contradict each other or the size of the file; RangeError for a damaged box
 */
export function readSampleRuns(
  { stbl, timescale, description: { entries }, source }: SourceTrack,
  files: readonly SourceFile[],
  wants: (sample: number) => boolean = () => true,
): Pick<SampledTrack, 'runs' | 'mediaSeconds'> {
  const totalBytes = files[source]?.totalBytes ?? 0;
  // Runs of two files are interleaved.
  const maxRunSeconds = files.length === 1 ? Infinity : interleaveSeconds;
  const sizes = sampleSizes(stbl);
  const times = decodeTimes(stbl);
  const secondsAt = (sample: number) => (times[sample] ?? 0) / timescale;
  const runs: SampleRun[] = [];
  let chunkEnd = 0;
  for (const { offset: start, first, end, description } of chunksOf(stbl)) {
    if (first === end) continue;
    let offset = start;
    if (offset < chunkEnd)
      throw new NotRemuxableError("its samples aren't stored in the order of their times");
    if (description < 1 || description > entries) throw new NotRemuxableError('a sample has no description');
    let run: SampleRun | undefined;
    for (let sample = first; sample < end; sample += 1) {
      const bytes = sizes.at(sample);
      const startSeconds = secondsAt(sample);
      if (!wants(sample)) run = undefined;
      else if (run === undefined || startSeconds - run.startSeconds >= maxRunSeconds) {
        run = { offset, bytes, samples: 1, description, startSeconds };
        runs.push(run);
        if (runs.length > maxRuns) throw new NotRemuxableError('it has too many chunks');
      } else {
        run.bytes += bytes;
        run.samples += 1;
      }
      offset += bytes;
    }
    chunkEnd = offset;
    if (chunkEnd > totalBytes) throw new NotRemuxableError('its samples extend past its end');
  }
  return { runs, mediaSeconds: secondsAt(sizes.count) };
}
