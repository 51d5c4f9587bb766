import { FragmentedMp4 } from '../containers/mp4/fragmented-mp4.js';
import { Mp3FrameCounter } from '../containers/mp3/frame-counter.js';

/** A track of what was sent. */
export interface SentTrack {
  type: 'video' | 'audio';
  endSeconds: number;
  /** Of it without content. */
  gapSeconds: number;
}

/** ffmpeg's output on its way to the client: finished where ffmpeg cannot, and measured. */
export interface MediaOutput {
  /** Whether sound or pictures have passed, not only headers. */
  readonly hasMedia: boolean;
  /** Whether what has passed ends at the end of a box or frame. */
  readonly isWhole: boolean;
  readonly tracks: readonly SentTrack[];
  /** Takes the next bytes of ffmpeg, gives those for the client. */
  push(chunk: Buffer): readonly Buffer[];
}

/** @param movieSeconds the length to write into the first box, asked when that passes. */
export function mp4Output(movieSeconds: () => number | null): MediaOutput {
  const mp4 = new FragmentedMp4(movieSeconds);
  return {
    get hasMedia() {
      return mp4.progress.some(({ samples }) => samples > 0);
    },
    get isWhole() {
      return mp4.complete;
    },
    get tracks() {
      return mp4.progress.map(({ handler, endSeconds, gapSeconds }) => ({
        type: handler === 'vide' ? ('video' as const) : ('audio' as const),
        endSeconds,
        gapSeconds,
      }));
    },
    push: (chunk) => mp4.push(chunk),
  };
}

export function mp3Output(): MediaOutput {
  const counter = new Mp3FrameCounter();
  return {
    get hasMedia() {
      return counter.frames > 0;
    },
    get isWhole() {
      return counter.complete;
    },
    get tracks() {
      return [{ type: 'audio' as const, endSeconds: counter.seconds, gapSeconds: 0 }];
    },
    push(chunk) {
      counter.push(chunk);
      return [chunk];
    },
  };
}
