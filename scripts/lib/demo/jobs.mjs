import { createWriteStream } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkInfo, checkMp3, checkMp4 } from './check-media.mjs';
import { checkCutout } from './check-picture.mjs';

/**
 * The main jobs of both services, each with what its result has to be.
 * @param {{ site: { url: (path: string) => string }, picture: { jpeg: Buffer }, outputDir: string }} context
 */
export function demoJobs({ site, picture, outputDir }) {
  const video = (path, page, extra = '') => `${path}?url=${encodeURIComponent(site.url(page))}${extra}`;
  const mp4 = (page, height) => video('/api/stream/video', page, `&fmt=mp4-${height}`);
  const output = (name) => join(outputDir, name);
  return [
    {
      name: 'Video details',
      path: video('/api/info', '/film'),
      file: output('info.json'),
      check: async (file) => checkInfo(JSON.parse(await readFile(file, 'utf8'))),
    },
    { name: 'MP3', path: video('/api/stream', '/film'), file: output('film.mp3'), check: checkMp3 },
    {
      name: 'MP4 720p',
      path: mp4('/film', 720),
      file: output('film-720.mp4'),
      check: (file) => checkMp4(file, 720),
    },
    {
      name: 'MP4 1080p',
      path: mp4('/film', 1080),
      file: output('film-1080.mp4'),
      check: (file) => checkMp4(file, 1080),
    },
    {
      name: 'MP3 from HLS',
      path: video('/api/stream', '/film-hls'),
      file: output('hls.mp3'),
      check: checkMp3,
    },
    {
      name: 'MP4 720p from HLS',
      path: mp4('/film-hls', 720),
      file: output('hls-720.mp4'),
      check: (file) => checkMp4(file, 720),
    },
    {
      name: 'MP4 1080p from HLS',
      path: mp4('/film-hls', 1080),
      file: output('hls-1080.mp4'),
      check: (file) => checkMp4(file, 1080),
    },
    {
      name: 'Background removed',
      path: '/api/remove-background',
      body: () => {
        const form = new FormData();
        form.set('file', new Blob([picture.jpeg], { type: 'image/jpeg' }), 'vase.jpg');
        return form;
      },
      file: output('vase-cutout.png'),
      check: async (file) => checkCutout(await readFile(file), picture),
    },
  ];
}

/**
 * Does one job through the gateway and checks what came out.
 * @returns {Promise<{ name: string, bytes: number, firstByteMs: number, totalMs: number, summary: string, problems: string[] }>}
 */
export async function runJob(job, gatewayUrl) {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  const failed = (problem) => ({
    name: job.name,
    bytes: 0,
    firstByteMs: elapsed(),
    totalMs: elapsed(),
    summary: '',
    problems: [problem],
  });
  let firstByteMs;
  try {
    const init = job.body === undefined ? {} : { method: 'POST', body: job.body() };
    const response = await fetch(gatewayUrl + job.path, init);
    firstByteMs = elapsed();
    if (!response.ok) return failed(`HTTP ${response.status}: ${(await response.text()).slice(0, 400)}`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(job.file));
  } catch (error) {
    return failed(`the transfer failed: ${error.cause?.message ?? error.message}`);
  }
  const totalMs = elapsed();
  const { size } = await stat(job.file);
  const { problems, summary } = await job.check(job.file);
  return { name: job.name, bytes: size, firstByteMs, totalMs, summary, problems };
}

/** Keeps the picture that goes in beside the one that comes out. */
export async function saveSamplePicture(picture, outputDir) {
  await writeFile(join(outputDir, 'vase.jpg'), picture.jpeg);
}
