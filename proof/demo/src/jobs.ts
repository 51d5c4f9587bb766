import { createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MediaServicesClient, MediaServicesError, type Media } from '@media-services/client';
import type { SamplePicture } from '@media-services/fault-site';
import type { SampleSite } from '@media-services/fault-site';
import { checkInfo, checkMp3, checkMp4 } from './check-media.js';
import { checkCutout } from './check-picture.js';
import type { Verdict } from './findings.js';

/** One request through the gateway, with its expected result. */
export interface Job {
  readonly name: string;
  /** Resolves when the response has started. */
  readonly ask: (client: MediaServicesClient) => Promise<Readable>;
  /** File for the response. */
  readonly file: string;
  readonly check: (file: string) => Promise<Verdict>;
}

export interface JobResult extends Verdict {
  readonly name: string;
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** No retries, because a result that is only correct at the second attempt is wrong. */
const once = { retries: 0 };

/** The main requests of both services. */
export function demoJobs(context: {
  readonly site: SampleSite;
  readonly picture: SamplePicture;
  readonly outputDir: string;
}): readonly Job[] {
  const { site, picture, outputDir } = context;
  const mp3 = (name: string, page: string, file: string): Job => ({
    name,
    ask: async (client) => bodyOf(await client.audio(site.url(page), once)),
    file: join(outputDir, file),
    check: checkMp3,
  });
  const mp4 = (name: string, page: string, height: 720 | 1080, file: string): Job => ({
    name,
    ask: async (client) => bodyOf(await client.video(site.url(page), `mp4-${height}`, once)),
    file: join(outputDir, file),
    check: (made) => checkMp4(made, height),
  });
  const vase = new Blob([new Uint8Array(picture.jpeg)], { type: 'image/jpeg' });
  return [
    {
      name: 'Video details',
      ask: async (client) => Readable.from(JSON.stringify(await client.info(site.url('/film'), once))),
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
      ask: async (client) => bodyOf(await client.removeBackground(vase, 'vase.jpg', once)),
      file: join(outputDir, 'vase-cutout.png'),
      check: async (file) => checkCutout(await readFile(file), picture),
    },
  ];
}

/** Runs one request through the gateway and checks its result. */
export async function runJob(job: Job, gatewayUrl: string): Promise<JobResult> {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  const failed = (problem: string): JobResult => ({
    name: job.name,
    bytes: 0,
    firstByteMs: elapsed(),
    totalMs: elapsed(),
    summary: '',
    problems: [problem],
  });
  let firstByteMs: number;
  try {
    const answer = await job.ask(new MediaServicesClient({ baseUrl: gatewayUrl }));
    firstByteMs = elapsed();
    await pipeline(answer, createWriteStream(job.file));
  } catch (error) {
    return failed(reasonOf(error));
  }
  const totalMs = elapsed();
  const { size } = await stat(job.file);
  return { name: job.name, bytes: size, firstByteMs, totalMs, ...(await job.check(job.file)) };
}

/** The body as a Node stream; the two stream types differ only in their iterators. */
function bodyOf({ body }: Media): Readable {
  return Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
}

function reasonOf(error: unknown): string {
  if (error instanceof MediaServicesError) return `${error.code} (${error.status}): ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
