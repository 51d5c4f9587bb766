import type { TargetSpec } from './engine-messages.js';
import type { Target } from './types.js';

/**
 * What yt-dlp's selector is asked for. `res` is the smaller side, so portrait
 * video counts like landscape; a sort prefers where a filter (`[height<=720]`)
 * would leave nothing on a page that offers only larger sizes.
 */
export const targetSpecs: Readonly<Record<Target, TargetSpec>> = {
  // A page without audio-only formats gives a small video: only its sound is used.
  mp3: { format: 'ba/b', sort: ['res:480', 'acodec:mp3', 'abr'] },
  'mp4-720': { format: 'bv*+ba/b', sort: ['res:720', 'vcodec:h264', 'acodec:aac'] },
  'mp4-1080': { format: 'bv*+ba/b', sort: ['res:1080', 'vcodec:h264', 'acodec:aac'] },
};
