/** How a high dynamic range is coded (ITU-R BT.2100): perceptual quantizer or hybrid log-gamma. */
export type HdrTransfer = 'pq' | 'hlg';

export interface ProbedStream {
  type: 'video' | 'audio';
  /** ffmpeg's name for it: `h264`, `vp9`, `aac`, `opus`, …; `avc1.6e0028` for H.264 that few players support. */
  codec: string;
  /** Displayed pixels, after rotation; null for audio. */
  width: number | null;
  height: number | null;
  fps: number | null;
  bitrateKbps: number | null;
  /** The stream's own duration, if the container states one. */
  durationSeconds: number | null;
  /** Delay relative to the first stream of the file; only from ffprobe. */
  delaySeconds?: number | undefined;
  /** ffprobe saw so little of it that it may start later than reported. */
  isUnseen?: boolean | undefined;
  /** A transport stream lists it, and ffprobe saw nothing of it. */
  isAbsent?: boolean | undefined;
  /** How much of its beginning an edit list hides; absent if nothing, or unknown. */
  hiddenSeconds?: number | undefined;
  /** Of a video with a high dynamic range, if the file says so. */
  hdr?: HdrTransfer | undefined;
  /** Cover art, not a video. */
  isCover: boolean;
  /** The file marks it as one to play unless the user chooses another, and not as a commentary or audio description. */
  isDefault: boolean;
}

/** The stream that ffmpeg counts as this type's number `track`. */
export function streamOf(
  streams: readonly ProbedStream[],
  wanted: ProbedStream['type'],
  track = 0,
): ProbedStream | undefined {
  return streams.filter(({ type, isCover }) => type === wanted && !isCover)[track];
}

/** How long a stream lasts without a delay before it; null if unknown. */
export function lengthOf({ durationSeconds, isUnseen }: ProbedStream): number | null {
  return isUnseen === true ? null : durationSeconds;
}

/** The number, among the audio streams, of the one that players play: the first default one, else the first. */
export function mainAudioTrack(streams: readonly ProbedStream[]): number {
  const audio = streams.filter(({ type }) => type === 'audio');
  return Math.max(
    0,
    audio.findIndex(({ isDefault }) => isDefault),
  );
}

/** The file states a wrong length. */
export type MediaDefect = 'wrong_length';

export interface Probe {
  durationSeconds: number | null;
  /** The file's first time; only from ffprobe. */
  startSeconds?: number | undefined;
  /** Whether the media state the duration, rather than it being estimated from a bit rate. Absent if unknown. */
  isExact?: boolean | undefined;
  /** Absent if none is known. */
  defect?: MediaDefect | undefined;
  /** Of the whole file, if its server states it. */
  sizeBytes: number | null;
  streams: ProbedStream[];
  /** Demuxer names, for example `mov,mp4,m4a,3gp,3g2,mj2`. */
  formatName: string;
}

/** The audio length that a file states. */
export interface AudioLength {
  /** Exact to one tick of the container's clock, which for audio is usually a sample. */
  readonly seconds: number;
  readonly sampleRate: number;
}
