import type { MovieHeader } from '../movie-header.js';
import type { SegmentIndex } from '../segment-index.js';

/** Files that we don't remux ourselves; ffmpeg may still read them. */
export class NotRemuxableError extends Error {
  override name = 'NotRemuxableError';
}

/** The parts of an MP4 or QuickTime file that say where its media are. */
export interface SourceFile {
  readonly movie: MovieHeader;
  /** Of a fragmented file, and where its box ends. */
  readonly index: (SegmentIndex & { readonly end: number }) | undefined;
  readonly totalBytes: number;
}

/** One track of the output. */
export interface LaidOutTrack {
  readonly type: 'video' | 'audio';
  /** ffprobe's name. */
  readonly codec: string;
  readonly seconds: number;
}

/** An MP4 whose every byte is known: its header, then parts of the source files. */
export interface Layout {
  readonly header: Uint8Array;
  /** Of each part: which source, where in it, and its length in bytes. Parts of a source are in its order. */
  readonly sources: Uint8Array;
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
  readonly tracks: readonly LaidOutTrack[];
  /** The track ids in the fragments of each source; null if the parts are copied unchanged. */
  readonly fragmentTracks: readonly number[] | null;
}

/** A larger header would take longer to send than ffmpeg takes to start. */
export const maxHeaderBytes = 8 * 1024 ** 2;
