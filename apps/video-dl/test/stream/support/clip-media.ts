import { execa } from 'execa';

/** Decodes a file of the site's numbered video. @returns the number of each frame in display order */
export async function frameNumbers(file: string): Promise<number[]> {
  const squares = 'crop=320:12:0:4,scale=16:1:flags=area,format=gray';
  const { stdout } = await execa(
    'ffmpeg',
    ['-v', 'error', '-i', file, '-map', '0:v:0', '-vf', squares, '-vsync', '0', '-f', 'rawvideo', '-'],
    { encoding: 'buffer' },
  );
  return Array.from({ length: stdout.length / 16 }, (_, frame) =>
    stdout
      .subarray(frame * 16, frame * 16 + 16)
      .reduce((number, level, bit) => number + (level > 128 ? 2 ** bit : 0), 0),
  );
}

const sampleRate = 44_100;

/** Decodes a file's audio to one channel. */
export async function samplesOf(file: string): Promise<Float32Array> {
  const { stdout } = await execa(
    'ffmpeg',
    ['-v', 'error', '-i', file, '-map', '0:a:0', '-ac', '1', '-ar', String(sampleRate), '-f', 'f32le', '-'],
    { encoding: 'buffer' },
  );
  return new Float32Array(Uint8Array.from(stdout).buffer);
}

/** Start of the clip's audio in the original, in samples: the best match near `expected`. */
export function findIn(original: Float32Array, clip: Float32Array, expected: number): number {
  const from = 8192;
  const length = 2048;
  let best = { position: NaN, score: -Infinity };
  for (let shift = -6000; shift <= 6000; shift += 1) {
    const start = Math.round(expected) + from + shift;
    if (start < 0 || start + length > original.length) continue;
    let score = 0;
    for (let index = 0; index < length; index += 1)
      score += (clip[from + index] ?? 0) * (original[start + index] ?? 0);
    if (score > best.score) best = { position: start - from, score };
  }
  return best.position;
}
