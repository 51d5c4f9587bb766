import { buffer } from 'node:stream/consumers';
import { startMediaProcess } from './process.js';
import type { MediaTools } from './tools.js';

const maxSide = 1280;
const maxSourcePixels = 25_000_000;
const quality = 3;

/**
 * Converts a WebP image to a JPEG whose longer side has at most 1280 pixels.
 * @returns null if ffmpeg can't read it
 * @throws DomainError if ffmpeg can't be started; the signal's reason
 */
export async function jpegOfWebp(
  tools: MediaTools,
  webp: Uint8Array,
  signal: AbortSignal,
): Promise<Buffer | null> {
  const size = `w='min(${maxSide},iw)':h='min(${maxSide},ih)':force_original_aspect_ratio=decrease`;
  await using child = await startMediaProcess({
    file: tools.ffmpeg,
    args: [
      ...['-hide_banner', '-nostats', '-loglevel', 'error', '-threads', '1', '-protocol_whitelist', 'pipe'],
      ...['-max_pixels', String(maxSourcePixels), '-f', 'webp_pipe', '-i', 'pipe:0'],
      ...['-frames:v', '1', '-vf', `scale=${size}`, '-pix_fmt', 'yuvj420p'],
      ...['-c:v', 'mjpeg', '-q:v', String(quality), '-f', 'image2pipe', 'pipe:1'],
    ],
    signal,
    feeds: [(stdin) => stdin.end(webp)],
  });
  const jpeg = await buffer(child.stdout);
  const { code } = await child.exited;
  signal.throwIfAborted();
  return code === 0 && jpeg.length > 0 ? jpeg : null;
}
