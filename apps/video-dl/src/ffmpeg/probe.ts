import { z } from 'zod';
import type { Probe } from '../containers/mp4/movie-summary.js';
import { inputOptions } from './arguments.js';
import type { ChildGroup } from '@media-services/processes';
import { startMediaProcess } from './process.js';
import type { MediaTools } from './tools.js';

/** Media that ffprobe cannot read, or not in time. The message has no URLs in it. */
export class ProbeError extends Error {
  override name = 'ProbeError';
}

export interface ProbeOptions {
  signal: AbortSignal;
  /** Time it may take. */
  maxMs: number;
  /** Of the relay session that the URL belongs to. */
  environment?: Readonly<Record<string, string>>;
}

const positiveNumber = z
  .string()
  .transform(parsePositive)
  .optional()
  .transform((value) => value ?? null);

const answerSchema = z.object({
  format: z.object({
    format_name: z.string(),
    duration: positiveNumber,
    size: z.string().optional(),
  }),
  streams: z
    .array(
      z.object({
        codec_type: z.string().optional(),
        codec_name: z.string().optional(),
        width: z.number().optional(),
        height: z.number().optional(),
        avg_frame_rate: z.string().optional(),
        bit_rate: z.string().optional(),
        duration: positiveNumber,
        tags: z.record(z.string(), z.string()).optional(),
        disposition: z.record(z.string(), z.number()).optional(),
        side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
      }),
    )
    .default([]),
});

/**
 * What is in the media behind a relay URL: ffprobe reads its header only.
 *
 * @throws ProbeError when it is not readable media or takes longer than `maxMs`; the signal's reason when aborted.
 */
export async function probe(
  tools: MediaTools,
  url: string,
  { signal, maxMs, environment }: ProbeOptions,
): Promise<Probe> {
  const deadline = AbortSignal.timeout(maxMs);
  await using child = await startMediaProcess({
    file: tools.ffprobe,
    args: [
      ...['-hide_banner', '-loglevel', 'error', '-print_format', 'json', '-show_format', '-show_streams'],
      ...[...inputOptions(), '-i', url],
    ],
    signal: AbortSignal.any([signal, deadline]),
    environment,
  });
  const answer = await readBounded(child);
  const exit = await child.exited;
  signal.throwIfAborted();
  if (deadline.aborted) throw new ProbeError(`the media's header did not arrive within ${maxMs} ms`);
  if (exit.code !== 0)
    throw new ProbeError(`the media cannot be read: ${child.stderr.lines.at(-1) ?? 'no reason given'}`);
  return readAnswer(answer);
}

/** Reads what `ffprobe -print_format json -show_format -show_streams` printed. */
export function readAnswer(text: string): Probe {
  const { format, streams } = answerSchema.parse(JSON.parse(text));
  return {
    durationSeconds: format.duration,
    sizeBytes: parsePositive(format.size ?? ''),
    formatName: format.format_name,
    streams: streams.flatMap((stream) => {
      const { codec_type: type, codec_name: codec } = stream;
      if ((type !== 'video' && type !== 'audio') || codec === undefined) return [];
      const turned = stream.side_data_list?.some(
        ({ rotation }) => rotation !== undefined && Math.abs(rotation) % 180 === 90,
      );
      const [width, height] = turned ? [stream.height, stream.width] : [stream.width, stream.height];
      return {
        type,
        codec,
        width: width ?? null,
        height: height ?? null,
        fps: type === 'video' ? parseRatio(stream.avg_frame_rate) : null,
        bitrateKbps: parseKbps(stream.bit_rate),
        durationSeconds: stream.duration ?? parseClock(stream.tags?.DURATION),
        isCover: stream.disposition?.attached_pic === 1,
      };
    }),
  };
}

const maxAnswerBytes = 1024 * 1024;

async function readBounded(child: ChildGroup): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAnswerBytes)
        throw new ProbeError("the media's header describes more than can be looked at");
      parts.push(chunk);
    }
  } catch (error) {
    // An aborted child's stdout is closed early; why it was aborted is told by the caller.
    if (error instanceof ProbeError) throw error;
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsePositive(text: string): number | null {
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : null;
}

/** Matroska's statistics tag, `00:03:32.500000000`. */
function parseClock(text: string | undefined): number | null {
  const parts = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/u.exec(text ?? '');
  return parts === null ? null : Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3]);
}

function parseRatio(text: string | undefined): number | null {
  const [numerator, denominator] = (text ?? '').split('/').map(Number);
  if (!numerator || !denominator) return null;
  return Math.round((numerator / denominator) * 1000) / 1000;
}

function parseKbps(text: string | undefined): number | null {
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? Math.round(value / 1000) : null;
}
