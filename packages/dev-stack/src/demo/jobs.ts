import { createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SamplePicture } from '../samples/picture.js';
import type { SampleSite } from '../samples/site.js';
import { checkInfo, checkMp3, checkMp4 } from './check-media.js';
import { checkCutout } from './check-picture.js';
import type { Verdict } from './findings.js';

/** One request through the gateway, and what its result has to be. */
export interface Job {
  readonly name: string;
  /** Path and query. */
  readonly path: string;
  /** What is uploaded; a GET without. */
  readonly body?: FormData;
  /** Where the answer is put. */
  readonly file: string;
  readonly check: (file: string) => Promise<Verdict>;
}

export interface JobResult extends Verdict {
  readonly name: string;
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** The main jobs of both services. */
export function demoJobs(context: {
  readonly site: SampleSite;
  readonly picture: SamplePicture;
  readonly outputDir: string;
}): readonly Job[] {
  const { site, picture, outputDir } = context;
  const video = (path: string, page: string, extra = '') =>
    `${path}?url=${encodeURIComponent(site.url(page))}${extra}`;
  const mp3 = (name: string, page: string, file: string): Job => ({
    name,
    path: video('/api/stream', page),
    file: join(outputDir, file),
    check: checkMp3,
  });
  const mp4 = (name: string, page: string, height: number, file: string): Job => ({
    name,
    path: video('/api/stream/video', page, `&fmt=mp4-${height}`),
    file: join(outputDir, file),
    check: (made) => checkMp4(made, height),
  });
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(picture.jpeg)], { type: 'image/jpeg' }), 'vase.jpg');
  return [
    {
      name: 'Video details',
      path: video('/api/info', '/film'),
      file: join(outputDir, 'info.json'),
      check: async (file) => checkInfo(JSON.parse(await readFile(file, 'utf8'))),
    },
    mp3('MP3', '/film', 'film.mp3'),
    mp4('MP4 720p', '/film', 720, 'film-720.mp4'),
    mp4('MP4 1080p', '/film', 1080, 'film-1080.mp4'),
    mp3('MP3 from HLS', '/film-hls', 'hls.mp3'),
    mp4('MP4 720p from HLS', '/film-hls', 720, 'hls-720.mp4'),
    mp4('MP4 1080p from HLS', '/film-hls', 1080, 'hls-1080.mp4'),
    {
      name: 'Background removed',
      path: '/api/remove-background',
      body: form,
      file: join(outputDir, 'vase-cutout.png'),
      check: async (file) => checkCutout(await readFile(file), picture),
    },
  ];
}

/** Does one job through the gateway and checks what came out. */
export async function runJob(job: Job, gatewayUrl: string): Promise<JobResult> {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  const failed = (problem: string): JobResult => ({
    name: job.name,
    ...{ bytes: 0, firstByteMs: elapsed(), totalMs: elapsed() },
    ...{ summary: '', problems: [problem] },
  });
  let firstByteMs: number;
  try {
    const init = job.body === undefined ? {} : { method: 'POST', body: job.body };
    const response = await fetch(gatewayUrl + job.path, init);
    firstByteMs = elapsed();
    if (!response.ok || response.body === null) {
      return failed(`HTTP ${response.status}: ${(await response.text()).slice(0, 400)}`);
    }
    await pipeline(Readable.fromWeb(response.body), createWriteStream(job.file));
  } catch (error) {
    return failed(`the transfer failed: ${reasonOf(error)}`);
  }
  const totalMs = elapsed();
  const { size } = await stat(job.file);
  return { name: job.name, bytes: size, firstByteMs, totalMs, ...(await job.check(job.file)) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
