import { readFile } from 'node:fs/promises';
import { faultCases, media, type FaultCase, type Site } from '@media-services/fault-site';
import { z } from 'zod';
import { wrongWithMedia } from './check-answer.js';
import { expectFailure, expectRight, type GoodRequest, type SoakContext } from './context.js';
import type { Answer } from './exchange.js';

const described = z.object({ title: z.string(), duration: z.number() });

let pages = 0;
/** A unique number for every page. */
const nextPage = () => String((pages += 1));

type Target = 'mp3' | 'mp4' | 'original';

const endpoints = { mp3: '/api/stream', mp4: '/api/stream/video', original: '/api/stream/video' } as const;
const names = { mp3: 'MP3', mp4: 'MP4, made', original: 'MP4, passed on' } as const;

/** Path and query of a stream at the gateway. */
export function streamPath(site: Site, target: Target, page: string): string {
  return `${endpoints[target]}?url=${encodeURIComponent(site.url + page)}`;
}

/** Pages without a fault, for every kind of response. */
export function goodVideos(site: Site): readonly GoodRequest[] {
  const made = (target: 'mp3' | 'mp4', file: string, seconds: number): GoodRequest => ({
    kind: `${names[target]}, of ${file}`,
    path: () => streamPath(site, target, `/watch?media=${file}&n=${nextPage()}`),
    wrongWith: ({ body }) => wrongWithMedia(body, { kind: target, seconds }),
  });
  return [
    {
      kind: 'details',
      path: () =>
        `/api/info?url=${encodeURIComponent(`${site.url}/watch?media=front.mp4&title=Soak&n=${nextPage()}`)}`,
      wrongWith: ({ body }) => {
        const { title, duration } = described.parse(JSON.parse(body.toString('utf8')));
        const isRight = title === 'Soak' && Math.abs(duration - 4) < 0.25;
        return Promise.resolve(isRight ? undefined : `“${title}” of ${duration} s`);
      },
    },
    made('mp3', 'front.mp4', 4),
    made('mp4', 'front-dubbed.mp4', 4),
    made('mp4', 'front-qt.mp4', 4),
    passedOn(site, 'long.mp4'),
    made('mp3', 'vp9.webm', 4),
    made('mp4', 'long.mkv', 20),
    made('mp3', 'hls-long/index.m3u8', 12),
    passedOn(site, 'front.mp4'),
    made('mp4', 'hls-long/index.m3u8', 12),
  ];
}

function passedOn(site: Site, file: string): GoodRequest {
  return {
    kind: `${names.original}, of ${file}`,
    path: () => streamPath(site, 'original', `/watch?media=${file}&n=${nextPage()}`),
    wrongWith: (answer) => wrongBytes(answer, file),
  };
}

async function wrongBytes({ body }: Answer, file: string): Promise<string | undefined> {
  return body.equals(await readFile(await media(file))) ? undefined : 'it is not the same file';
}

/** A fault of the site: the response is either complete or visibly an error. */
export interface FaultyVideo {
  readonly faultCase: FaultCase;
  readonly target: Target;
}

export const faultyVideos: readonly FaultyVideo[] = faultCases.flatMap((faultCase) =>
  (['mp3', 'mp4', 'original'] as const)
    .filter((target) => faultCase[target] !== undefined)
    .map((target) => ({ faultCase, target })),
);

export async function askFaulty(context: SoakContext, { faultCase, target }: FaultyVideo): Promise<void> {
  const { clip } = faultCase;
  const part = clip === undefined ? '' : `&start=${clip.start}&end=${clip.end}`;
  const path = () => streamPath(context.site, target, pageOf(faultCase, target)) + part;
  if (faultCase[target] !== 'complete') {
    await expectFailure(context, { kind: `fault that cannot be mended, ${names[target]}`, path: path() });
    return;
  }
  await expectRight(context, {
    kind: `fault that is mended, ${names[target]}`,
    path,
    wrongWith: async (answer) => {
      const file = /media=([\w.-]+\.mp4)/.exec(pageOf(faultCase, target))?.[1] ?? '';
      if (target === 'original' && answer.headers['accept-ranges'] === 'bytes')
        return wrongBytes(answer, file);
      return wrongWithMedia(answer.body, {
        kind: target === 'mp3' ? 'mp3' : 'mp4',
        seconds: faultCase.seconds,
        // A copied clip may end with frames that others refer to.
        maxSurplusFrames: clip === undefined ? 0 : 2,
      });
    },
  });
}

function pageOf({ page }: FaultCase, target: Target): string {
  return page.replaceAll('$', nextPage()).replace('{kind}', target === 'mp4' ? '-dubbed' : '');
}
