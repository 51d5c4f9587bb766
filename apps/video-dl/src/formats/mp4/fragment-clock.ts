import { readDecodeTime, readFragment, type Run, type TrackFragment } from './fragment-boxes.js';
import type { Mp4Track } from './movie-header.js';

/** Measured length of a track so far. */
export interface TrackProgress {
  id: number;
  handler: string;
  /** Presentation time of the end of the last sample. */
  endSeconds: number;
  /** Silence between audio samples; 0 for video, where a frame may last any time. */
  gapSeconds: number;
  /** Presentation time of its first sample. The edit list hides anything before zero, but not every player honours it. */
  startSeconds: number;
  /** Duration of its longest sample. */
  longestSeconds: number;
  samples: number;
}

/** Longer than the audio frames of any codec. */
const maxAudioFrameSeconds = 0.25;

/** In the track's units. */
interface TrackState {
  /** Decode time of the next sample. */
  decodeTime: number;
  /** Latest end of a sample in composition time: B-frames are shown later than they are decoded. */
  end: number;
  /** Earliest composition time of a sample. */
  start: number;
  gap: number;
  longest: number;
  samples: number;
}

/** Where tracks alternate, as many runs have the audio and video of twenty minutes. */
const maxBoxes = 65_536;

/** Measures the media in the fragments of an MP4 (ISO 14496-12, 8.8: moof, traf, tfhd, tfdt, trun). */
export class FragmentClock {
  readonly #tracks: ReadonlyMap<number, Mp4Track>;
  readonly #states: ReadonlyMap<Mp4Track, TrackState>;

  constructor(tracks: readonly Mp4Track[]) {
    this.#tracks = new Map(tracks.map((track) => [track.id, track]));
    const empty = { decodeTime: 0, end: 0, start: Infinity, gap: 0, longest: 0, samples: 0 };
    this.#states = new Map(tracks.map((track) => [track, { ...empty }]));
  }

  /** In the order of the tracks in moov. */
  get progress(): TrackProgress[] {
    return [...this.#states].map(([track, { end, start, gap, longest, samples }]) => ({
      id: track.id,
      handler: track.handler,
      endSeconds: samples === 0 ? 0 : end / track.timescale + track.shiftSeconds,
      gapSeconds: gap / track.timescale,
      startSeconds: samples === 0 ? 0 : start / track.timescale + track.shiftSeconds,
      longestSeconds: longest / track.timescale,
      samples,
    }));
  }

  /** @throws Mp4FormatError, RangeError for damaged boxes */
  add(moof: Buffer): void {
    for (const fragment of readFragment(moof, this.#tracks, maxBoxes)) {
      const state = this.#states.get(fragment.track);
      if (state === undefined) continue;
      if (fragment.tfdt !== null) state.decodeTime = readDecodeTime(fragment.tfdt);
      for (const run of fragment.runs)
        if (run.entryBytes === 0) addEqualSamples(state, run.samples, fragment);
        else addSamples(state, run, fragment);
    }
  }
}

function longestUngapped({ handler, timescale }: Mp4Track): number {
  return handler === 'soun' ? maxAudioFrameSeconds * timescale : Infinity;
}

function addEqualSamples(
  state: TrackState,
  samples: number,
  { track, defaultDuration: duration }: TrackFragment,
): void {
  if (samples > 0) state.start = Math.min(state.start, state.decodeTime);
  state.end = Math.max(state.end, state.decodeTime + samples * duration);
  if (duration > longestUngapped(track)) state.gap += samples * duration;
  state.decodeTime += samples * duration;
  state.longest = Math.max(state.longest, duration);
  state.samples += samples;
}

function addSamples(
  state: TrackState,
  { bytes, samples, start: first, entryBytes, hasDuration, hasComposition }: Run,
  { track, defaultDuration }: TrackFragment,
): void {
  const ungapped = longestUngapped(track);
  // Local sums and a DataView halve the time of a run of a million samples.
  let { decodeTime, start, end, gap, longest } = state;
  const entries = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let index = 0, entry = first; index < samples; index += 1, entry += entryBytes) {
    const duration = hasDuration ? entries.getUint32(entry) : defaultDuration;
    const shownAt = decodeTime + (hasComposition ? entries.getInt32(entry + entryBytes - 4) : 0);
    if (shownAt < start) start = shownAt;
    if (shownAt + duration > end) end = shownAt + duration;
    if (duration > ungapped) gap += duration;
    if (duration > longest) longest = duration;
    decodeTime += duration;
  }
  Object.assign(state, { decodeTime, start, end, gap, longest, samples: state.samples + samples });
}
