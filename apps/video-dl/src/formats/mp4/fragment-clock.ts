import { childBoxes } from './box.js';
import { readDecodeTime, readDefaultDuration, readRun, type Run } from './fragment-boxes.js';
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

interface TrackState {
  track: Mp4Track;
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
  readonly #tracks = new Map<number, TrackState>();

  constructor(tracks: readonly Mp4Track[]) {
    for (const track of tracks)
      this.#tracks.set(track.id, {
        track,
        decodeTime: 0,
        end: 0,
        start: Infinity,
        gap: 0,
        longest: 0,
        samples: 0,
      });
  }

  /** In the order of the tracks in moov. */
  get progress(): TrackProgress[] {
    return [...this.#tracks.values()].map(({ track, end, start, gap, longest, samples }) => ({
      id: track.id,
      handler: track.handler,
      endSeconds: samples === 0 ? 0 : end / track.timescale + track.shiftSeconds,
      gapSeconds: gap / track.timescale,
      startSeconds: samples === 0 ? 0 : start / track.timescale + track.shiftSeconds,
      longestSeconds: longest / track.timescale,
      samples,
    }));
  }

  /**
   * @param content of a `moof` box
   * @throws Mp4FormatError, RangeError for damaged boxes
   */
  add(content: Buffer): void {
    for (const { type, bytes } of childBoxes(content, 0, maxBoxes))
      if (type === 'traf') this.#addTrack(bytes);
  }

  #addTrack(traf: Buffer): void {
    let state: TrackState | undefined;
    let defaultDuration = 0;
    for (const { type, bytes } of childBoxes(traf, 8, maxBoxes)) {
      if (type === 'tfhd') {
        state = this.#tracks.get(bytes.readUInt32BE(12));
        defaultDuration = readDefaultDuration(bytes) ?? state?.track.defaultSampleDuration ?? 0;
      }
      if (state === undefined) continue;
      if (type === 'tfdt') state.decodeTime = readDecodeTime(bytes);
      if (type !== 'trun') continue;
      const run = readRun(bytes);
      if (run.entryBytes === 0) addEqualSamples(state, run.samples, defaultDuration);
      else addSamples(state, run, defaultDuration);
    }
  }
}

function longestUngapped({ handler, timescale }: Mp4Track): number {
  return handler === 'soun' ? maxAudioFrameSeconds * timescale : Infinity;
}

function addEqualSamples(state: TrackState, samples: number, duration: number): void {
  if (samples > 0) state.start = Math.min(state.start, state.decodeTime);
  state.end = Math.max(state.end, state.decodeTime + samples * duration);
  if (duration > longestUngapped(state.track)) state.gap += samples * duration;
  state.decodeTime += samples * duration;
  state.longest = Math.max(state.longest, duration);
  state.samples += samples;
}

function addSamples(
  state: TrackState,
  { bytes, samples, start, entryBytes, hasDuration, hasComposition }: Run,
  defaultDuration: number,
): void {
  const longest = longestUngapped(state.track);
  for (let index = 0; index < samples; index += 1) {
    const entry = start + index * entryBytes;
    const duration = hasDuration ? bytes.readUInt32BE(entry) : defaultDuration;
    const composition = hasComposition ? bytes.readInt32BE(entry + entryBytes - 4) : 0;
    state.start = Math.min(state.start, state.decodeTime + composition);
    state.end = Math.max(state.end, state.decodeTime + composition + duration);
    if (duration > longest) state.gap += duration;
    if (duration > state.longest) state.longest = duration;
    state.decodeTime += duration;
  }
  state.samples += samples;
}
