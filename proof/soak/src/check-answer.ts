import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';

const inspected = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string(),
      codec_name: z.string(),
      duration: z.coerce.number().optional(),
      nb_read_frames: z.coerce.number().optional(),
    }),
  ),
});

const framesPerSecond = 25;
const toleranceSeconds = 0.25;

interface ExpectedMedia {
  readonly kind: 'mp3' | 'mp4';
  readonly seconds: number;
  readonly maxSurplusFrames?: number;
}

/** Decodes a whole stream. @returns what is wrong with it; undefined if nothing is */
export async function wrongWithMedia(
  body: Buffer,
  { kind, seconds, maxSurplusFrames = 0 }: ExpectedMedia,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'media-services-soak-answer-'));
  try {
    const file = join(folder, `answer.${kind}`);
    await writeFile(file, body);
    const { stdout, stderr } = await execa(
      'ffprobe',
      ['-v', 'error', '-count_frames', '-show_streams', '-print_format', 'json', file],
      { reject: false },
    );
    if (stderr !== '') return `decoding: ${stderr.slice(0, 200)}`;
    const { streams } = inspected.parse(JSON.parse(stdout));
    const codecs = streams.map(({ codec_name }) => codec_name).join('+');
    if (codecs !== (kind === 'mp3' ? 'mp3' : 'h264+aac')) return `it holds ${codecs}`;
    for (const { codec_type, duration = 0 } of streams) {
      if (Math.abs(duration - seconds) > toleranceSeconds)
        return `its ${codec_type} lasts ${duration} s of ${seconds} s`;
    }
    const frames = streams[0]?.nb_read_frames ?? 0;
    const surplus = frames - seconds * framesPerSecond;
    if (kind === 'mp4' && (surplus < 0 || surplus > maxSurplusFrames))
      return `it has ${frames} frames of ${seconds * framesPerSecond}`;
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
