import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Double } from '@media-services/fault-site/double';
import { execa } from 'execa';
import { z } from 'zod';
import { receive } from '../deliver/support/receive.js';
import type { TestService } from '../support/service.js';
import { startBehind, watchPage } from './shapes.js';

const talk = 'https://www.ted.com/talks/a_talk';
const film = 'https://media.broadcaster.example/film.mpd';
const vimeo = 'https://player.vimeo.com/video/100000001';

let double: Double;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-subtitles-'));
  double = await Double.start();
  service = await startBehind(double);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, page: string, rest: string) =>
  receive(`${service.url}/api/${path}?url=${encodeURIComponent(page)}${rest}`);

it.each([
  [
    'YouTube: a person and a machine, no machine translations',
    watchPage('captions'),
    [
      { language: 'de', label: 'German', isAutomatic: false },
      { language: 'en', label: 'EN (Original)', isAutomatic: true },
    ],
  ],
  [
    'Vimeo',
    vimeo,
    [
      { language: 'en', label: 'English', isAutomatic: true },
      { language: 'pt-BR', label: 'Brazilian Portuguese', isAutomatic: false },
    ],
  ],
  [
    'HLS groups',
    talk,
    [
      { language: 'en', label: 'English', isAutomatic: false },
      { language: 'de', label: 'German', isAutomatic: false },
    ],
  ],
  [
    'DASH sets',
    film,
    [
      { language: 'de', label: 'German', isAutomatic: false },
      { language: 'en', label: 'English', isAutomatic: false },
    ],
  ],
  ['a page without any', watchPage('plain'), []],
])('lists them: %s', async (_what, page, subtitles) => {
  expect((await service.info(page)).body).toMatchObject({ subtitles });
});

it.each([
  [
    'YouTube',
    watchPage('captions'),
    '&fmt=vtt&subtitles=de',
    'WEBVTT\n\n00:00:00.500 --> 00:00:01.500\nGuten Tag,\nzusammen\n\n00:00:02.000 --> 00:00:03.000\nKäse &amp; Brot\n',
  ],
  [
    'automatic captions, each line once',
    watchPage('captions'),
    '&fmt=srt&subtitles=en',
    '1\n00:00:00,500 --> 00:00:01,500\nhello world\n\n2\n00:00:01,500 --> 00:00:03,500\nthis is a test\n',
  ],
  ['Vimeo', vimeo, '&fmt=srt&subtitles=pt', '1\n00:00:01,000 --> 00:00:02,000\nTrack 2\n'],
  [
    'segments of an HLS group',
    talk,
    '&fmt=srt&subtitles=de',
    '1\n00:00:00,500 --> 00:00:01,500\nGuten Tag\n\n2\n00:00:01,500 --> 00:00:02,500\nin beiden Teilen\n\n3\n00:00:03,000 --> 00:00:03,800\nEnde\n',
  ],
  [
    'TTML of a DASH set',
    film,
    '&fmt=srt&subtitles=de',
    '1\n00:00:00,500 --> 00:00:01,500\nGuten Tag\nzusammen\n\n2\n00:00:01,500 --> 00:00:02,500\nKäse & Brot\n\n3\n00:00:03,000 --> 00:00:03,667\nEnde\n',
  ],
  [
    'WebVTT of a DASH set, without markup',
    film,
    '&fmt=srt&subtitles=en',
    '1\n00:00:00,500 --> 00:00:01,500\nHello alert(1)\neverybody\n\n2\n00:00:01,500 --> 00:00:02,500\nCheese & bread\n',
  ],
  [
    'a clip',
    talk,
    '&fmt=srt&subtitles=de&start=1&end=3.2',
    '1\n00:00:00,000 --> 00:00:00,500\nGuten Tag\n\n2\n00:00:00,500 --> 00:00:01,500\nin beiden Teilen\n\n3\n00:00:02,000 --> 00:00:02,200\nEnde\n',
  ],
])('sends them as text: %s', async (_what, page, rest, expected) => {
  const { status, headers, body } = await get('stream', page, rest);
  expect(body.toString()).toBe(expected);
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^(?:text\/vtt|application\/x-subrip); charset=utf-8$/);
  expect(headers['content-disposition']).toMatch(/filename="[^"]+\.(?:de|en|pt-BR)\.(?:vtt|srt)"/);
});

const report = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string(),
      codec_name: z.string(),
      tags: z.object({ language: z.string(), handler_name: z.string() }),
    }),
  ),
});

const packets = z.object({
  packets: z.array(z.object({ pts_time: z.coerce.number(), size: z.coerce.number() })),
});

/** When what is shown changes, and to which text. ffmpeg before 7.1 reads no durations from fragments. */
async function textOf(file: string, track: number): Promise<[number, string][]> {
  const { stdout } = await execa('ffprobe', [
    ...['-v', 'error', '-select_streams', `s:${track}`, '-show_packets', '-of', 'json', file],
  ]);
  const copy = ['-v', 'error', '-i', file, '-map', `0:s:${track}`, '-c', 'copy', '-f', 'data', '-'];
  const { stdout: bytes } = await execa('ffmpeg', copy, { encoding: 'buffer' });
  let at = 0;
  return packets.parse(JSON.parse(stdout)).packets.map(({ pts_time, size }) => {
    // Each text follows its length in two bytes.
    const text = Buffer.from(bytes.subarray(at + 2, at + size)).toString();
    at += size;
    return [pts_time, text];
  });
}

it.each([
  ['HLS', watchPage('captions')],
  ['files', watchPage('capfile')],
])('adds tracks of text to an MP4: %s', async (_what, page) => {
  const { status, complete, body } = await get('stream/video', page, '&subtitles=de,en');
  expect({ status, complete }).toEqual({ status: 200, complete: true });
  const file = join(folder, 'result.mp4');
  await writeFile(file, body);
  const { stdout } = await execa('ffprobe', ['-v', 'error', '-show_streams', '-of', 'json', file]);
  const { streams } = report.parse(JSON.parse(stdout));
  expect(streams.map(({ codec_type }) => codec_type)).toEqual(['video', 'audio', 'subtitle', 'subtitle']);
  expect(streams.slice(2)).toMatchObject([
    { codec_name: 'mov_text', tags: { language: 'deu', handler_name: 'German' } },
    { codec_name: 'mov_text', tags: { language: 'eng' } },
  ]);
  expect(await textOf(file, 0)).toEqual([
    [0, ''],
    [0.5, 'Guten Tag,\nzusammen'],
    [1.5, ''],
    [2, 'Käse & Brot'],
  ]);
  expect(await textOf(file, 1)).toEqual([
    [0, ''],
    [0.5, 'hello world'],
    [1.5, 'this is a test'],
  ]);
});

it('a clip has its part of them, and decodes without errors', async () => {
  const { status, complete, body } = await get('stream/video', talk, '&subtitles=de&start=1');
  expect({ status, complete }).toEqual({ status: 200, complete: true });
  const file = join(folder, 'clip.mp4');
  await writeFile(file, body);
  expect(await textOf(file, 0)).toEqual([
    [0, 'Guten Tag'],
    [0.5, 'in beiden Teilen'],
    [1.5, ''],
    [2, 'Ende'],
  ]);
  const { stderr } = await execa('ffmpeg', ['-v', 'warning', '-i', file, '-f', 'null', '-']);
  expect(stderr).toBe('');
});

it('lists what there is if the page has no subtitles in the language', async () => {
  const { status, body } = await get('stream/video', talk, '&subtitles=fr');
  expect(status).toBe(422);
  expect(JSON.parse(body.toString())).toMatchObject({
    code: 'no_media',
    detail: expect.stringContaining('It has: en, de.') as string,
  });
});

it.each([
  ['stream', '&subtitles=de', 'must be one language for vtt or srt, and absent for audio'],
  ['stream', '&fmt=vtt', 'must be one language for vtt or srt, and absent for audio'],
  ['stream', '&fmt=srt&subtitles=de,en', 'must be one language for vtt or srt, and absent for audio'],
  ['stream/video', '&subtitles=a,b,c,d,e,f', 'must be one to 5 languages, separated by commas'],
])('rejects %s?…%s', async (path, rest, message) => {
  const { status, body } = await get(path, talk, rest);
  expect(status).toBe(400);
  expect(JSON.parse(body.toString())).toMatchObject({ errors: [{ message }] });
});
