import { startMediaProcess } from './process.js';
import { FragmentedMp4 } from '../formats/mp4/fragmented-mp4.js';
import type { MediaTools } from './tools.js';

/** ffmpeg is installed but doesn't work. The message contains its output. */
export class MuxingCheckError extends Error {
  override name = 'MuxingCheckError';
}

const signalSeconds = 1;

// Every encoder and muxer that streams need: H.264 and AAC in a fragmented MP4, and MP3.
const args = [
  ...['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'error', '-xerror', '-threads', '1'],
  ...['-f', 'lavfi', '-i', `testsrc2=size=128x72:rate=10:duration=${signalSeconds}`],
  ...['-f', 'lavfi', '-i', `sine=frequency=440:duration=${signalSeconds}`],
  ...['-map', '0:v', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
  ...['-map', '1:a', '-c:a', 'aac'],
  ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof+delay_moov', '-f', 'mp4', 'pipe:1'],
  ...['-map', '1:a', '-c:a', 'libmp3lame', '-f', 'null', '-'],
];

/**
 * Encodes and muxes a second of a generated signal the way streams do, and checks the
 * result.
 *
 * @throws MuxingCheckError
 */
export async function checkMuxing(tools: MediaTools, signal: AbortSignal): Promise<void> {
  await using child = await startMediaProcess({ file: tools.ffmpeg, args, signal, encodesVideo: true });
  const walker = new FragmentedMp4(() => signalSeconds);
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) walker.push(chunk);
  const exit = await child.exited;
  signal.throwIfAborted();
  if (exit.code !== 0) {
    const reason = child.stderr.lines.at(-1) ?? `exit code ${exit.code ?? exit.signal}`;
    throw new MuxingCheckError(`ffmpeg can't encode a test signal: ${reason}`);
  }
  const shortest = Math.min(...walker.progress.map(({ endSeconds }) => endSeconds));
  if (walker.progress.length !== 2 || !(Math.abs(shortest - signalSeconds) < 0.2)) {
    throw new MuxingCheckError("ffmpeg's test signal isn't one second of video and audio");
  }
}
