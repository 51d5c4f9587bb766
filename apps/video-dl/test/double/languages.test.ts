import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Double, tones } from '@media-services/fault-site/double';
import { receive } from '../deliver/support/receive.js';
import { atNight } from '../../../../proof/vitest/at-night.js';
import type { TestService } from '../support/service.js';
import { pitchOf } from './pitch.js';
import { startBehind, watchPage } from './shapes.js';

const talk = 'https://www.ted.com/talks/a_talk';
const film = 'https://media.broadcaster.example/film.mpd';

let double: Double;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-languages-'));
  double = await Double.start();
  service = await startBehind(double);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const german = { language: 'de', label: 'German', isOriginal: false, isDescription: false };
const english = { language: 'en', label: 'English', isOriginal: true, isDescription: false };
const described = {
  language: 'en-desc',
  label: 'English (audio description)',
  isOriginal: false,
  isDescription: true,
};

it.each([
  ['YouTube: files and HLS', watchPage('dubbed'), [german, english]],
  ['YouTube: audio descriptions', watchPage('mixes'), [described, english]],
  ['HLS groups', talk, [english, { ...german, language: 'pt-BR', label: 'Brazilian Portuguese' }, described]],
  ['DASH sets', film, [english, { ...german, language: 'de-AT', label: 'Austrian German' }, described]],
  ['a site that states none', watchPage('plain'), []],
])('lists the languages: %s', async (_what, page, languages) => {
  const { body } = await service.info(page);
  const { audioLanguages } = body as { audioLanguages: unknown[] };
  expect(audioLanguages).toHaveLength(languages.length);
  expect(audioLanguages).toEqual(expect.arrayContaining(languages));
});

it.each([
  ['files', watchPage('dubfile'), 'de', 'dub'],
  ['an audio description', watchPage('mixes'), 'en-desc', 'described'],
  ['an HLS group', talk, 'pt', 'dub'],
  ['a DASH set', film, 'de', 'dub'],
  ...atNight([
    ['files', watchPage('dubfile'), 'original', 'original'],
    ['HLS', watchPage('dubhls'), 'ger', 'dub'],
    ['the language of an audio description', watchPage('mixes'), 'en', 'original'],
    ['an HLS group that describes', talk, 'en-desc', 'described'],
    ['a DASH set that describes', film, 'en-desc', 'described'],
  ] as const),
] as const)('sends the audio in the language: %s, %s, %s', async (_what, page, lang, tone) => {
  for (const path of ['/api/stream', '/api/stream/video']) {
    const { status, complete, body } = await receive(
      `${service.url}${path}?lang=${lang}&url=${encodeURIComponent(page)}`,
    );
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    const file = join(folder, 'result');
    await writeFile(file, body);
    expect(await pitchOf(file)).toBe(tones[tone]);
  }
});

it('lists what there is if the page has no audio in the language', async () => {
  const { status, body } = await receive(
    `${service.url}/api/stream?lang=fr&url=${encodeURIComponent(watchPage('dubbed'))}`,
  );
  expect(status).toBe(422);
  expect(JSON.parse(body.toString())).toMatchObject({
    code: 'no_media',
    detail: expect.stringMatching(/It has: (?:de, en|en, de)\./) as string,
  });
});
