import type { StreamAction } from '../formats/codecs.js';
import type { HdrTransfer } from '../formats/probed.js';
import type { ClipTimes } from './clip.js';

interface Track {
  readonly action: StreamAction;
  /** Of the source. */
  readonly codec: string;
  /** How much of the beginning the source's file hides. */
  readonly hiddenSeconds?: number | undefined;
}

/** What to do with the video. */
export interface VideoTrack extends Track {
  /** Encoded video is scaled down until its shorter side has at most this many pixels. */
  readonly maxShortSide: number;
  /** Size of the output; null if only ffmpeg can tell. */
  readonly width?: number | null;
  readonly height?: number | null;
  /** Whether its frames have different sizes, as behind an advertisement. */
  readonly changesSize?: boolean;
  readonly fps?: number | null;
  /** Of a source with a high dynamic range, which 8 bits can't show. */
  readonly hdr?: HdrTransfer | undefined;
}

/** What to do with the audio. */
export interface AudioTrack extends Track {
  /** Its number among the tracks of its type, without covers; defaults to 0. */
  readonly track?: number | undefined;
  /** Whether to leave out copied packets that an edit list hides. */
  readonly skipsHidden?: boolean;
  /** Whether to encode the audio without gaps or cuts, whatever its timestamps say. */
  readonly ignoresTimes?: boolean;
}

/** What to do with each track; null omits it. */
export interface TrackPlan {
  readonly video: VideoTrack | null;
  readonly audio: AudioTrack | null;
  readonly clip?: ClipTimes | null;
}
