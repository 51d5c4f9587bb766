import { execa } from 'execa';
import { z } from 'zod';
import { film } from '@media-services/fault-site';
import { Findings, type Verdict } from './findings.js';

const durationToleranceSeconds = 0.15;
const syncToleranceSeconds = 0.05;

const mediaStream = z.object({
  codec_type: z.string(),
  codec_name: z.string(),
  width: z.number().optional(),
  height: z.number().optional(),
  duration: z.coerce.number().optional(),
  start_time: z.coerce.number().optional(),
  bit_rate: z.coerce.number().optional(),
});

const probed = z.object({
  streams: z.array(mediaStream),
  format: z.object({ duration: z.coerce.number(), tags: z.record(z.string(), z.string()).optional() }),
});

async function probe(file: string) {
  const { stdout } = await execa('ffprobe', [
    ...['-v', 'error', '-print_format', 'json', '-show_streams', '-show_format', file],
  ]);
  return probed.parse(JSON.parse(stdout));
}

/** The errors of a decoder that reads the whole file; empty if the file is undamaged. */
async function decodingErrors(file: string): Promise<string> {
  const { exitCode, stderr } = await execa(
    process.env.FFMPEG_PATH || 'ffmpeg',
    ['-v', 'error', '-xerror', '-nostdin', '-i', file, '-f', 'null', '-'],
    { reject: false },
  );
  return exitCode === 0 ? stderr.trim() : `exit code ${exitCode}: ${stderr.trim()}`;
}

function expectDuration(findings: Findings, name: string, seconds: number | undefined): void {
  const difference = Math.abs((seconds ?? Number.NaN) - film.durationSeconds);
  findings.expect(
    difference <= durationToleranceSeconds,
    `${name} lasts ${seconds} s instead of ${film.durationSeconds} s`,
  );
}

/** Checks a complete MP4 of the sample video: codecs, size, duration, sync, every frame. */
export async function checkMp4(file: string, height: number): Promise<Verdict> {
  const findings = new Findings();
  const { streams, format } = await probe(file);
  const video = streams.find((stream) => stream.codec_type === 'video');
  const audio = streams.find((stream) => stream.codec_type === 'audio');
  findings.expect(video?.codec_name === 'h264', `video is ${video?.codec_name}, not h264`);
  findings.expect(audio?.codec_name === 'aac', `audio is ${audio?.codec_name}, not aac`);
  findings.expect(video?.height === height, `height is ${video?.height}, not ${height}`);
  expectDuration(findings, 'the file', format.duration);
  for (const stream of [video, audio]) {
    if (stream !== undefined) expectDuration(findings, stream.codec_type, stream.duration);
  }
  const offset = Math.abs((video?.start_time ?? Number.NaN) - (audio?.start_time ?? Number.NaN));
  findings.expect(offset <= syncToleranceSeconds, `audio and video start ${offset} s apart`);
  const errors = await decodingErrors(file);
  findings.expect(errors === '', `decoding: ${errors}`);
  return {
    problems: findings.problems,
    summary: `${video?.codec_name} ${video?.width}×${video?.height} + ${audio?.codec_name}, ${format.duration.toFixed(2)} s`,
  };
}

/** Checks a complete MP3 of the sample video: duration, title, every frame. */
export async function checkMp3(file: string): Promise<Verdict> {
  const findings = new Findings();
  const { streams, format } = await probe(file);
  const audio = streams.find((stream) => stream.codec_type === 'audio');
  findings.expect(audio?.codec_name === 'mp3', `audio is ${audio?.codec_name}, not mp3`);
  expectDuration(findings, 'the file', format.duration);
  const title = format.tags?.title;
  findings.expect(title === film.title, `the title tag is ${JSON.stringify(title)}`);
  const errors = await decodingErrors(file);
  findings.expect(errors === '', `decoding: ${errors}`);
  return {
    problems: findings.problems,
    summary: `${audio?.codec_name} ${Math.round((audio?.bit_rate ?? 0) / 1000)} kbit/s, ${format.duration.toFixed(2)} s, “${title}”`,
  };
}

const described = z.object({
  title: z.string(),
  duration: z.number(),
  downloads: z.array(z.object({ target: z.string() })),
});

/** Checks the response of /api/info for the sample video. */
export function checkInfo(answer: unknown): Verdict {
  const findings = new Findings();
  const info = described.parse(answer);
  findings.expect(info.title === film.title, `the title is ${JSON.stringify(info.title)}`);
  expectDuration(findings, 'the film', info.duration);
  const targets = info.downloads.map(({ target }) => target);
  for (const target of ['mp3', 'mp4-720', 'mp4-1080']) {
    findings.expect(targets.includes(target), `no download ${target} is offered`);
  }
  return {
    problems: findings.problems,
    summary: `“${info.title}”, ${info.duration} s, ${targets.join(' ')}`,
  };
}
