import { InvalidRequestError } from '@media-services/http-common';
import type { Format } from '../extract/types.js';
import type { WantedWindow } from '../look/layouts.js';
import type { Target } from '../targets.js';
import type { Clip } from './clip.js';
import type { StreamAction } from '../formats/codecs.js';

/** What yt-dlp calls files of the MP4 family, or of a type that it doesn't know. */
const mp4Extensions: readonly (string | null)[] = ['mp4', 'm4v', 'm4a', 'mov', 'unknown_video', null];

export function isMp4File({ source, ext }: Format): boolean {
  return source.kind === 'file' && mp4Extensions.includes(ext);
}

/** What is sent, and what happens to its tracks. */
export interface PlannedStreams {
  readonly formats: readonly Format[];
  readonly container: string | null;
  readonly video: { readonly action: StreamAction } | null;
  readonly audio: { readonly action: StreamAction; readonly track?: number | undefined } | null;
}

/** What is read of MP4 files for a clip: a player needs copied tracks, and ffmpeg makes no clips of original audio. */
export function windowFor(
  target: Target,
  { formats, container, video, audio }: PlannedStreams,
  { startSeconds, endSeconds }: Clip,
): WantedWindow | null {
  if (!formats.every(isMp4File)) return null;
  const isCopied = [video, audio].every((track) => track === null || track.action === 'copy');
  const mayPlay = isCopied && (container === 'mp4' || container === 'm4a');
  return {
    startSeconds,
    endSeconds,
    tracks: { video: video !== null, audio: audio === null ? null : (audio.track ?? 0) },
    readers: [
      ...(mayPlay ? (['player'] as const) : []),
      ...(target === 'original' ? [] : (['decoder'] as const)),
    ],
  };
}

/** Only the edit list of an MP4 cuts copied audio at an exact sample. */
export function noOriginalClip(): InvalidRequestError {
  const message = 'must be mp3 for a clip, because the original audio of this page can only be sent whole';
  return new InvalidRequestError([{ field: 'fmt', message }]);
}
