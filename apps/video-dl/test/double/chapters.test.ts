import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Double, mediaSeconds } from '@media-services/fault-site/double';
import { execa } from 'execa';
import { z } from 'zod';
import { receive } from '../deliver/support/receive.js';
import type { TestService } from '../support/service.js';
import { startBehind, watchPage } from './shapes.js';

let double: Double;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-chapters-'));
  double = await Double.start();
  service = await startBehind(double);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const streamUrl = (path: string, page: string, rest = '') =>
  `${service.url}/api/${path}?url=${encodeURIComponent(page)}${rest}`;

const report = z.object({
  chapters: z.array(
    z.object({
      start_time: z.coerce.number(),
      end_time: z.coerce.number(),
      tags: z.object({ title: z.string() }),
    }),
  ),
});

/** What ffprobe reads: title, start, end. */
async function chaptersOf(url: string): Promise<(string | number)[][]> {
  const { status, complete, body } = await receive(url);
  expect({ status, complete }).toEqual({ status: 200, complete: true });
  const file = join(folder, 'result');
  await writeFile(file, body);
  const { stdout } = await execa('ffprobe', ['-v', 'error', '-show_chapters', '-of', 'json', file]);
  return report
    .parse(JSON.parse(stdout))
    .chapters.map(({ start_time, end_time, tags }) => [tags.title, start_time, end_time]);
}

// Versions of ffmpeg differ by a frame of audio.
const near = (seconds: number) => expect.closeTo(seconds, 0.8) as number;

const whole = [
  ['Anfang ä', 0, 1],
  ['Mitte', 1, 3],
  ['Ende', 3, near(mediaSeconds)],
];

it('lists the chapters that the description states', async () => {
  const { body } = await service.info(watchPage('chapters'));
  expect(body).toMatchObject({
    chapters: [
      { title: 'Anfang ä', start: 0, end: 1 },
      { title: 'Mitte', start: 1, end: 3 },
      { title: 'Ende', start: 3, end: mediaSeconds },
    ],
  });
});

it.each([
  ['an MP3', 'stream', 'chapters'],
  ["an MP4 made from the site's files without ffmpeg", 'stream/video', 'chapfile'],
  ['an MP4 that ffmpeg makes', 'stream/video', 'chaphls'],
] as const)('%s has them', async (_what, path, name) => {
  expect(await chaptersOf(streamUrl(path, watchPage(name)))).toEqual(whole);
});

it.each(['stream', 'stream/video'])('a clip has its part of them: %s', async (path) => {
  expect(await chaptersOf(streamUrl(path, watchPage('chapters'), '&start=2'))).toEqual([
    ['Mitte', 0, 1],
    ['Ende', 1, near(2)],
  ]);
});

it.each(['stream', 'stream/video'])('a chapter becomes the clip: %s', async (path) => {
  expect(await chaptersOf(streamUrl(path, watchPage('chapters'), '&chapter=2'))).toEqual([
    ['Mitte', 0, near(2)],
  ]);
});

it.each([
  ['chapters', '&chapter=4', 'must be a whole number from 1 to 3, the number of chapters'],
  ['chapters', '&chapter=2&start=1', 'must not be combined with start or end'],
  ['plain', '&chapter=1', 'must be absent, because this page states no chapters'],
] as const)('rejects a chapter that the page does not have: %s%s', async (name, rest, message) => {
  const { status, body } = await receive(streamUrl('stream', watchPage(name), rest));
  expect(status).toBe(400);
  expect(JSON.parse(body.toString())).toMatchObject({ errors: [{ field: 'chapter', message }] });
});
