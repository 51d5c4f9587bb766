import { runCommand } from '../run-command.mjs';
import { film } from './sample-media.mjs';

const durationToleranceSeconds = 0.15;
const syncToleranceSeconds = 0.05;

async function probe(file) {
  const { code, output } = await runCommand('ffprobe', [
    ...['-v', 'error', '-print_format', 'json', '-show_streams', '-show_format', file],
  ]);
  if (code !== 0) throw new Error(`ffprobe does not understand ${file}: ${output.trim()}`);
  return JSON.parse(output);
}

/** What a decoder that reads the whole file complains about; empty when nothing. */
async function decodingErrors(file) {
  const { code, output } = await runCommand('ffmpeg', [
    '-v',
    'error',
    '-xerror',
    '-nostdin',
    '-i',
    file,
    '-f',
    'null',
    '-',
  ]);
  return code === 0 ? output.trim() : `exit code ${code}: ${output.trim()}`;
}

/** Collects what is wrong instead of stopping at the first. */
class Findings {
  list = [];
  expect(condition, problem) {
    if (!condition) this.list.push(problem);
  }
}

function expectDuration(findings, name, seconds) {
  const difference = Math.abs(Number(seconds) - film.durationSeconds);
  findings.expect(
    difference <= durationToleranceSeconds,
    `${name} lasts ${seconds} s instead of ${film.durationSeconds} s`,
  );
}

/** @returns {Promise<{ problems: string[], summary: string }>} */
export async function checkMp4(file, height) {
  const findings = new Findings();
  const { streams, format } = await probe(file);
  const video = streams.find((stream) => stream.codec_type === 'video');
  const audio = streams.find((stream) => stream.codec_type === 'audio');
  findings.expect(video?.codec_name === 'h264', `video is ${video?.codec_name}, not h264`);
  findings.expect(audio?.codec_name === 'aac', `audio is ${audio?.codec_name}, not aac`);
  findings.expect(video?.height === height, `height is ${video?.height}, not ${height}`);
  expectDuration(findings, 'the file', format.duration);
  for (const stream of [video, audio].filter(Boolean))
    expectDuration(findings, stream.codec_type, stream.duration);
  const offset = Math.abs(Number(video?.start_time) - Number(audio?.start_time));
  findings.expect(offset <= syncToleranceSeconds, `audio and video start ${offset} s apart`);
  const errors = await decodingErrors(file);
  findings.expect(errors === '', `decoding: ${errors}`);
  return {
    problems: findings.list,
    summary: `${video?.codec_name} ${video?.width}×${video?.height} + ${audio?.codec_name}, ${Number(format.duration).toFixed(2)} s`,
  };
}

/** @returns {Promise<{ problems: string[], summary: string }>} */
export async function checkMp3(file) {
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
    problems: findings.list,
    summary: `${audio?.codec_name} ${Math.round(Number(audio?.bit_rate) / 1000)} kbit/s, ${Number(format.duration).toFixed(2)} s, “${title}”`,
  };
}

/** @returns {{ problems: string[], summary: string }} */
export function checkInfo(info) {
  const findings = new Findings();
  findings.expect(info.title === film.title, `the title is ${JSON.stringify(info.title)}`);
  expectDuration(findings, 'the film', info.duration);
  const targets = (info.downloads ?? []).map(({ target }) => target);
  for (const target of ['mp3', 'mp4-720', 'mp4-1080']) {
    findings.expect(targets.includes(target), `no download ${target} is offered`);
  }
  return { problems: findings.list, summary: `“${info.title}”, ${info.duration} s, ${targets.join(' ')}` };
}
