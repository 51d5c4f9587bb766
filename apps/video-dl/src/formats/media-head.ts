import type { AudioLength, Probe } from './probed.js';
import type { Span } from './mp4/remux/sample-tables.js';

/** Replaces the length that a file states. */
export interface CorrectedLength {
  /** Null if it is unknown. */
  readonly seconds: number | null;
}

/** Audio-only file formats. Opus in Ogg counts as its own format. */
export const audioFiles = ['m4a', 'mp3', 'ogg', 'opus', 'webm', 'flac', 'wav'] as const;
export type AudioFile = (typeof audioFiles)[number];

/** The parsed header of a file. */
export interface MediaHead {
  /** What ffprobe would report; null if only ffprobe can tell. */
  readonly probe: Omit<Probe, 'sizeBytes'> | null;
  /** Format of a file that may be sent unchanged; null for anything else. */
  readonly original: 'mp3' | 'mp4' | null;
  /** Format of an audio-only file; null for anything else. */
  readonly audioFile: AudioFile | null;
  /** The audio's exact length; null if the file doesn't state it. */
  readonly audioLength: AudioLength | null;
  /** The length of a file that must be read elsewhere to know it, or whose audio has to be counted; null for others. */
  readonly lengthSeconds: number | null;
  /** The length to use instead of the one that the file states; null if that one may be true. */
  readonly correctedLength: CorrectedLength | null;
  /** Lengths inside a fragmented MP4 that Apple's players would add to those of its fragments, so that we send 0. */
  readonly zeroed: readonly Span[];
}

export const noHead: MediaHead = {
  probe: null,
  original: null,
  audioFile: null,
  audioLength: null,
  lengthSeconds: null,
  correctedLength: null,
  zeroed: [],
};
