import type { ChildGroup } from '@media-services/processes';
import type { Analysis } from '../formats/media-input.js';
import type { Probe } from '../formats/probed.js';
import { roundingSeconds } from './clip.js';
import { analysisOptions, inputOptions } from './inputs.js';
import type { Parse } from '../parser-process/parser-pool.js';
import { needsTooMuchMemory, startMediaProcess } from './process.js';
import type { MediaTools } from './tools.js';

/** ffprobe can't read the media, or not in time. The message contains no URLs. */
export class ProbeError extends Error {
  override name = 'ProbeError';
  /** ffprobe itself rejected the media, so a retry gives the same result. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

export interface ProbeOptions {
  signal: AbortSignal;
  /** Parses ffprobe's report. */
  parse: Parse;
  /** Defaults to 15 s. */
  maxMs?: number;
  /** How far to look for tracks, if not as far as usual. */
  analysis?: Analysis | undefined;
  /** Environment of the relay session that the URL belongs to. */
  environment?: Readonly<Record<string, string>>;
}

/**
 * Probes the media at a relay URL, or the beginning of a file. ffprobe reads only its header.
 * @throws ProbeError if the media isn't readable within `maxMs`; DomainError; the signal's reason
 */
export async function probe(
  tools: MediaTools,
  input: string | Uint8Array,
  options: ProbeOptions,
): Promise<Probe> {
  // No codec list: ffprobe opens every decoder, including those of subtitles and covers.
  const args = ['-print_format', 'json', '-show_format', '-show_streams', '-threads', '1'];
  args.push(...analysisOptions(options.analysis));
  const report = await run(tools, input, args, options);
  return options.parse({ kind: 'ffprobe', bytes: report }, options.signal);
}

/** @returns what ffprobe prints */
async function run(
  tools: MediaTools,
  input: string | Uint8Array,
  args: readonly string[],
  { signal, maxMs = 15_000, environment }: Omit<ProbeOptions, 'parse'>,
): Promise<Buffer> {
  const deadline = AbortSignal.timeout(maxMs);
  const isUrl = typeof input === 'string';
  const from = isUrl ? [...inputOptions(), '-i', input] : [...inputOptions('pipe'), '-i', 'pipe:0'];
  await using child = await startMediaProcess({
    file: tools.ffprobe,
    args: ['-hide_banner', '-loglevel', 'error', ...args, ...from],
    signal: AbortSignal.any([signal, deadline]),
    environment,
    feeds: isUrl ? [] : [(stdin) => stdin.end(input)],
  });
  const report = await readBounded(child);
  const exit = await child.exited;
  signal.throwIfAborted();
  if (deadline.aborted) throw new ProbeError(`the media's header didn't arrive within ${maxMs} ms`, false);
  if (child.hasExceededMemory) throw needsTooMuchMemory();
  if (exit.code !== 0)
    throw new ProbeError(
      `the media can't be read: ${child.stderr.lines.at(-1) ?? 'no reason given'}`,
      exit.code !== null,
    );
  return report;
}

/**
 * Where ffmpeg would begin to copy a clip of a file with an index: the time of its key frame, in seconds on the
 * file's clock; null if it finds none.
 * @throws as `probe`
 */
export async function firstFrameSeconds(
  tools: MediaTools,
  url: string,
  { seconds, ...options }: ProbeOptions & { readonly seconds: number },
): Promise<number | null> {
  const args = [
    ...['-select_streams', 'V:0', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0'],
    ...['-read_intervals', `${(seconds + roundingSeconds).toFixed(6)}%+#1`],
  ];
  const report = await run(tools, url, args, options);
  const [, time] = /^(-?\d+\.\d+),K/u.exec(report.toString('latin1', 0, 64)) ?? [];
  return time === undefined ? null : Number(time);
}

const maxReportBytes = 1024 * 1024;

async function readBounded(child: ChildGroup): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxReportBytes) throw new ProbeError("ffprobe's report is too large", true);
      parts.push(chunk);
    }
  } catch (error) {
    // An aborted child's stdout closes early; the caller reports the reason.
    if (error instanceof ProbeError) throw error;
  }
  return Buffer.concat(parts);
}
