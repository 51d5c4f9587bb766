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

/** Samples of a track, in its units. Times count from the decode time of the first. */
interface SampleTotals {
  readonly samples: number;
  readonly duration: number;
  /** When the first sample is shown. */
  readonly firstShown: number;
  /** When the earliest sample is shown and the latest ends: B-frames are shown later than they are decoded. */
  readonly start: number;
  readonly end: number;
  /** Duration of the longest sample. */
  readonly longest: number;
}

const noSamples: SampleTotals = {
  samples: 0,
  duration: 0,
  firstShown: 0,
  start: Infinity,
  end: -Infinity,
  longest: 0,
};

/**
 * The totals with the samples of a `trun` box.
 * @param defaultDuration of each sample, if the box states none
 * @throws Mp4FormatError for a box with fewer samples than it states
 */
function withRun(totals: SampleTotals, trun: Buffer, defaultDuration: number): SampleTotals {
  const set = flagsOf(trun);
  const samples = trun.readUInt32BE(12);
  const first = 16 + (set & flag.dataOffset ? 4 : 0) + (set & flag.firstSampleFlags ? 4 : 0);
  const entryBytes = 4 * sampleFields.filter((bit) => set & bit).length;
  if (first + samples * entryBytes > trun.length)
    throw new Mp4FormatError('trun has fewer samples than stated');
  // The first field.
  const hasDuration = (set & flag.sampleDuration) !== 0;
  // The last field. Unsigned in version 0, but writers such as ffmpeg use negative values there too.
  const hasComposition = (set & flag.sampleCompositionOffset) !== 0;
  // Equal samples are added at once, because a box may state any number of them.
  const [steps, samplesPerStep] =
    hasDuration || hasComposition ? [samples, 1] : [Math.min(1, samples), samples];
  // Local sums and a DataView halve the time of a run of a million samples.
  let { duration, firstShown, start, end, longest } = totals;
  const entries = new DataView(trun.buffer, trun.byteOffset, trun.length);
  for (let step = 0, entry = first; step < steps; step += 1, entry += entryBytes) {
    const ticks = hasDuration ? entries.getUint32(entry) : defaultDuration;
    const shownAt = duration + (hasComposition ? entries.getInt32(entry + entryBytes - 4) : 0);
    if (step === 0 && totals.samples === 0) firstShown = shownAt;
    if (shownAt < start) start = shownAt;
    if (ticks > longest) longest = ticks;
    duration += ticks * samplesPerStep;
    if (shownAt + ticks * samplesPerStep > end) end = shownAt + ticks * samplesPerStep;
  }
  return { samples: totals.samples + samples, duration, firstShown, start, end, longest };
}

/** The part of a track in a fragment. */
export interface TrackFragment extends SampleTotals {
  readonly track: Mp4Track;
  readonly tfhd: Buffer;
  /** Null if it continues where the previous one ended. */
  readonly tfdt: Buffer | null;
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
    const defaultDuration = readDefaultDuration(tfhd) ?? track.defaultSampleDuration;
    const totals = boxes
      .filter((box) => box.type === 'trun')
      .reduce((sum, run) => withRun(sum, run.bytes, defaultDuration), noSamples);
    return [{ ...totals, track, tfhd, tfdt: find('tfdt') ?? null }];
  });
}
