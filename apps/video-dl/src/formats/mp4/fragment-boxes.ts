import { childBoxes, isLong, Mp4FormatError } from './box.js';
import type { Mp4Track } from './movie-header.js';

/** Readers for the boxes of a fragment's tracks (ISO 14496-12, 8.8.7, 8.8.8, 8.8.12). */

const flag = {
  baseDataOffset: 0x01,
  sampleDescriptionIndex: 0x02,
  defaultSampleDuration: 0x08,
  dataOffset: 0x01,
  firstSampleFlags: 0x04,
  sampleDuration: 0x100,
  sampleCompositionOffset: 0x800,
};
/** Duration, size, flags, composition offset. */
const sampleFields = [flag.sampleDuration, 0x200, 0x400, flag.sampleCompositionOffset];

/** The flags of a full box with an 8-byte header. */
export function flagsOf(box: Buffer): number {
  return box.readUIntBE(9, 3);
}

function readDefaultDuration(tfhd: Buffer): number | undefined {
  const set = flagsOf(tfhd);
  if ((set & flag.defaultSampleDuration) === 0) return undefined;
  return tfhd.readUInt32BE(
    16 + (set & flag.baseDataOffset ? 8 : 0) + (set & flag.sampleDescriptionIndex ? 4 : 0),
  );
}

export function readDecodeTime(tfdt: Buffer): number {
  return isLong({ bytes: tfdt }) ? Number(tfdt.readBigUInt64BE(12)) : tfdt.readUInt32BE(12);
}

/** The samples of a `trun` box. */
export interface Run {
  /** The box. */
  readonly bytes: Buffer;
  readonly samples: number;
  /** Where the first one begins, and the size of each; 0 if all are equal. */
  readonly start: number;
  readonly entryBytes: number;
  /** The first field. */
  readonly hasDuration: boolean;
  /** The last field. Unsigned in version 0, but writers such as ffmpeg use negative values there too. */
  readonly hasComposition: boolean;
}

/** @throws Mp4FormatError for a box with fewer samples than it states */
function readRun(trun: Buffer): Run {
  const set = flagsOf(trun);
  const samples = trun.readUInt32BE(12);
  const start = 16 + (set & flag.dataOffset ? 4 : 0) + (set & flag.firstSampleFlags ? 4 : 0);
  const entryBytes = 4 * sampleFields.filter((bit) => set & bit).length;
  if (start + samples * entryBytes > trun.length)
    throw new Mp4FormatError('trun has fewer samples than stated');
  const hasDuration = (set & flag.sampleDuration) !== 0;
  const hasComposition = (set & flag.sampleCompositionOffset) !== 0;
  return { bytes: trun, samples, start, entryBytes, hasDuration, hasComposition };
}

/** In the track's units. @param defaultDuration of each sample, if the run states none */
export function durationOf(run: Run, defaultDuration: number): number {
  const { bytes, samples, start, entryBytes, hasDuration } = run;
  if (!hasDuration) return samples * defaultDuration;
  let duration = 0;
  for (let index = 0; index < samples; index += 1) duration += bytes.readUInt32BE(start + index * entryBytes);
  return duration;
}

/** How much later than it is decoded the first sample is shown, in the track's units. */
export function firstComposition({ bytes, samples, start, entryBytes, hasComposition }: Run): number {
  return hasComposition && samples > 0 ? bytes.readInt32BE(start + entryBytes - 4) : 0;
}

/** The part of a track in a fragment. */
export interface TrackFragment {
  readonly track: Mp4Track;
  readonly tfhd: Buffer;
  /** Null if it continues where the previous one ended. */
  readonly tfdt: Buffer | null;
  /** Of samples whose run states none, in the track's units. */
  readonly defaultDuration: number;
  readonly runs: readonly Run[];
}

/**
 * The parts of known tracks in a `moof` box. Writing to their buffers changes it.
 * @throws Mp4FormatError if it has more boxes than this; RangeError for damaged boxes
 */
export function readFragment(
  moof: Buffer,
  tracks: ReadonlyMap<number, Mp4Track>,
  maxBoxes: number,
): TrackFragment[] {
  let left = maxBoxes;
  return childBoxes(moof, 8, maxBoxes).flatMap(({ type, bytes }) => {
    const boxes = type === 'traf' ? childBoxes(bytes, 8, left) : [];
    left -= boxes.length;
    const find = (wanted: string) => boxes.find((box) => box.type === wanted)?.bytes;
    const tfhd = find('tfhd');
    const track = tfhd && tracks.get(tfhd.readUInt32BE(12));
    if (tfhd === undefined || track === undefined) return [];
    return [
      {
        track,
        tfhd,
        tfdt: find('tfdt') ?? null,
        defaultDuration: readDefaultDuration(tfhd) ?? track.defaultSampleDuration,
        runs: boxes.flatMap((box) => (box.type === 'trun' ? [readRun(box.bytes)] : [])),
      },
    ];
  });
}
