import { execa } from 'execa';
import { ffmpegUnderTest } from '../../support/media-tools.js';
import { z } from 'zod';
import type { ChildExit } from '@media-services/processes';
import { startMediaProcess } from '../../../src/ffmpeg/process.js';

const answerSchema = z.object({
  format: z.object({
    duration: z.coerce.number().optional(),
    tags: z.record(z.string(), z.string()).optional(),
  }),
  streams: z.array(
    z.object({
      codec_type: z.string(),
      codec_name: z.string(),
      codec_tag_string: z.string(),
      pix_fmt: z.string().optional(),
      level: z.number().optional(),
      width: z.number().optional(),
      height: z.number().optional(),
      sample_rate: z.coerce.number().optional(),
      bit_rate: z.coerce.number().optional(),
      start_time: z.coerce.number().optional(),
      duration: z.coerce.number().optional(),
      nb_read_frames: z.coerce.number().optional(),
      disposition: z.record(z.string(), z.number()),
      tags: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

export type Inspection = z.output<typeof answerSchema>;

/**
 * Reads a whole file with ffprobe. Throws on errors.
 * @param count `frames` decodes everything, `packets` only demuxes
 */
export async function inspect(file: string, count: 'frames' | 'packets' = 'frames'): Promise<Inspection> {
  const { stdout, stderr } = await execa('ffprobe', [
    ...[
      '-hide_banner',
      '-loglevel',
      'error',
      `-count_${count}`,
      '-show_streams',
      '-show_format',
      '-print_format',
      'json',
      file,
    ],
  ]);
  if (stderr !== '') throw new Error(`decoding ${file}: ${stderr}`);
  return answerSchema.parse(JSON.parse(stdout));
}

/** Runs ffmpeg as the service does and collects stdout. */
export async function collect(
  args: readonly string[],
  onStderrLine?: (line: string) => void,
): Promise<{ chunks: Buffer[]; exit: ChildExit; stderr: string }> {
  await using child = await startMediaProcess({
    file: ffmpegUnderTest ?? 'ffmpeg',
    args,
    signal: new AbortController().signal,
    ...(onStderrLine && { onStderrLine }),
  });
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) chunks.push(chunk);
  return { chunks, exit: await child.exited, stderr: child.stderr.toString() };
}
