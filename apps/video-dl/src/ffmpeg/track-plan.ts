import type { ClipTimes } from './clip.js';

export interface Track {
  codec: string;
  /** Its number among the tracks of its type, without covers; defaults to 0. */
  track?: number | undefined;
}

/** What to do with each track; null omits it. */
export interface TrackPlan {
  video:
    | (Track & { action: 'copy' })
    /** Scaled down until its shorter side has at most `maxShortSide` pixels. */
    | (Track & {
        action: 'transcode';
        maxShortSide: number;
        /** Size of the output; null if only ffmpeg can tell. */
        width?: number | null;
        height?: number | null;
        changesSize?: boolean | undefined;
        fps?: number | null;
        /** Of a source with a high dynamic range, which 8 bits can't show. */
        hdr?: 'pq' | 'hlg' | undefined;
      })
    | null;
  audio: (Track & { action: 'copy' | 'transcode'; ignoresTimes?: boolean | undefined }) | null;
  clip?: ClipTimes | null;
}
