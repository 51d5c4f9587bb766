import { execa } from 'execa';

/** Decodes a file of the site's numbered video. @returns the number of each frame in display order */
export async function frameNumbers(file: string): Promise<number[]> {
  const squares = 'crop=320:12:0:4,scale=16:1:flags=area,format=gray';
  const { stdout } = await execa(
    'ffmpeg',
    [
      ...['-v', 'error', '-i', file, '-map', '0:v:0', '-vf', squares],
      ...['-fps_mode', 'passthrough', '-f', 'rawvideo', '-'],
    ],
    { encoding: 'buffer' },
  );
  return Array.from({ length: stdout.length / 16 }, (_, frame) =>
    stdout
      .subarray(frame * 16, frame * 16 + 16)
      .reduce((number, level, bit) => number + (level > 128 ? 2 ** bit : 0), 0),
  );
}
