import { readDecodeTime, readFragment } from './fragment-boxes.js';
import type { Mp4Track } from './movie-header.js';

/** Measured length of a track so far. */
export interface TrackProgress {
  id: number;
  handler: string;
  /** Presentation time of the end of the last sample. */
  endSeconds: number;
  /** Presentation time of its first sample. The edit list hides anything before zero, but not every player honours it. */
  startSeconds: number;
  /** Duration of its longest sample. */
  longestSeconds: number;
  samples: number;
}

/** In the track's units. */
interface TrackState {
  /** Decode time of the next sample. */
  decodeTime: number;
  /** When the latest sample ends and the earliest is shown. */
  end: number;
  start: number;
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
    const empty = { decodeTime: 0, end: 0, start: Infinity, longest: 0, samples: 0 };
    this.#states = new Map(tracks.map((track) => [track, { ...empty }]));
  }

  /** In the order of the tracks in moov. */
  get progress(): TrackProgress[] {
    return [...this.#states].map(([track, { end, start, longest, samples }]) => ({
      id: track.id,
      handler: track.handler,
      endSeconds: samples === 0 ? 0 : end / track.timescale + track.shiftSeconds,
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
      const { tfdt, samples, duration, start, end, longest } = fragment;
      if (tfdt !== null) state.decodeTime = readDecodeTime(tfdt);
      state.start = Math.min(state.start, state.decodeTime + start);
      state.end = Math.max(state.end, state.decodeTime + end);
      state.longest = Math.max(state.longest, longest);
      state.samples += samples;
      state.decodeTime += duration;
    }
  }
}
