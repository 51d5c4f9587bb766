import { attachment } from '../media/file-name.js';
import type { Plan } from '../plan/index.js';

/** The headers of a stream, the same for GET and HEAD. */
export function streamHeaders(plan: Plan): Record<string, string> {
  const isMp3 = plan.target === 'mp3';
  return {
    'Content-Type': isMp3 ? 'audio/mpeg' : 'video/mp4',
    'Content-Disposition': attachment(plan.title, isMp3 ? 'mp3' : 'mp4'),
    'Accept-Ranges': 'none',
    'Cache-Control': 'no-store',
    ...(plan.estimatedBytes !== null && { 'Estimated-Content-Length': String(plan.estimatedBytes) }),
    ...(plan.durationSeconds !== null && { 'X-Content-Duration': String(plan.durationSeconds) }),
  };
}
