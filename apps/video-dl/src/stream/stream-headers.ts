import { attachment } from './file-name.js';
import { estimateMp3FrontBytes } from './mp3-front.js';
import type { Plan } from '../plan/index.js';

/**
 * The headers of a stream, the same for GET and HEAD.
 *
 * @param cover the picture for the tag of an MP3, which may be larger than the sound.
 */
export function streamHeaders(plan: Plan, cover: Uint8Array | null): Record<string, string> {
  const isMp3 = plan.target === 'mp3';
  const frontBytes = isMp3 ? estimateMp3FrontBytes(plan, cover) : 0;
  return {
    'Content-Type': isMp3 ? 'audio/mpeg' : 'video/mp4',
    'Content-Disposition': attachment(plan.title, isMp3 ? 'mp3' : 'mp4'),
    'Accept-Ranges': 'none',
    'Cache-Control': 'no-store',
    ...(plan.estimatedBytes !== null && {
      'Estimated-Content-Length': String(plan.estimatedBytes + frontBytes),
    }),
    ...(plan.durationSeconds !== null && { 'X-Content-Duration': String(plan.durationSeconds) }),
  };
}
