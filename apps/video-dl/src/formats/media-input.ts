/** How far ffmpeg looks for tracks before its first output. */
export interface Analysis {
  readonly bytes: number;
  readonly seconds: number;
}

/**
 * An input of ffmpeg, and what its beginning shows. What isn't known is absent. Times are in seconds on its
 * source's clock.
 */
export interface MediaInput {
  readonly url: string;
  /** The first presentation time; null if it has none. */
  readonly startSeconds?: number | null;
  /** Start of the input in the source; null if it is the whole source, or only a reader can tell. */
  readonly offsetSeconds?: number | null;
  /** For a clip of a seekable file: how long before it to start reading. Null means from the beginning. */
  readonly prerollSeconds?: number | null;
  /** For a clip of segments: where its video begins; null if it can't be decoded from there. */
  readonly keyFrameSeconds?: number | null;
  /** Whether it is an MPEG transport stream whose video begins with a key frame. */
  readonly hasTransportKeyFrame?: boolean;
  /** Seconds of audio before time zero, which players skip. */
  readonly hiddenSeconds?: number;
  /** How far ffmpeg has to look for tracks; undefined for as far as usual. */
  readonly analysis?: Analysis | undefined;
  /** The same for ffprobe, which needs no times and counts a frame rate in half a second. */
  readonly probing?: Analysis | undefined;
  /** Total duration stated by the playlist; null if it states none. */
  readonly statedSeconds?: number | null;
}
