import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Double, mediaSeconds, tones, videoId } from '@media-services/fault-site/double';
import { execa } from 'execa';
import { pitchOf } from '../support/pitch.js';
import { startWhole, type Place } from '../support/place.js';
import { chromium } from './browsers.js';
import { ffmpeg, gstreamer, mpv, type Program } from './programs.js';

// Languages, subtitles and chapters of sites' doubles, through the gateway, in programs that we did not write.

let folder: string;
let double: Double;
let place: Place;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-players-'));
  double = await Double.start();
  place = await startWhole(double.settings);
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const youTube = `https://www.youtube.com/watch?v=${videoId('spoken', 1)}`;
const vimeo = 'https://player.vimeo.com/video/100000001';
const ted = 'https://www.ted.com/talks/a_talk';
const dash = 'https://media.broadcaster.example/film.mpd';

/** Downloads through the gateway. */
async function saved(path: string, query: Readonly<Record<string, string>>, name: string): Promise<string> {
  const response = await fetch(`${place.url}/api/${path}?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  const file = join(folder, name);
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  return file;
}

const players: readonly (readonly [string, Program])[] = [
  ['ffmpeg', ffmpeg],
  ['GStreamer', gstreamer],
  ['mpv', mpv],
  ['Chromium', chromium],
];

describe.each([
  ['YouTube, dubbed', youTube, { lang: 'de', subtitles: 'de,en' }, tones.dub, ['deu', 'eng']],
  ['Vimeo', vimeo, { subtitles: 'pt,en' }, tones.original, ['por', 'eng']],
  ['groups of an HLS playlist', ted, { lang: 'pt', subtitles: 'de,en' }, tones.dub, ['deu', 'eng']],
  ['sets of a DASH manifest', dash, { lang: 'de', subtitles: 'de' }, tones.dub, ['deu']],
] as const)('%s', (_name, url, query, tone, texts) => {
  let file: string;
  beforeAll(async () => {
    file = await saved('stream/video', { url, ...query }, 'video.mp4');
  });

  it('the MP4 has the language and the subtitles', async () => {
    const entries = ['-show_entries', 'stream=codec_type:stream_tags=language', '-of', 'csv=p=0'];
    const { stdout } = await execa('ffprobe', ['-v', 'error', ...entries, file]);
    const streams = stdout.split('\n').map((line) => line.split(','));
    expect(streams.filter(([type]) => type === 'subtitle').map(([, language]) => language)).toEqual(texts);
    expect(await pitchOf(file)).toBe(tone);
  });

  it.each(players)('%s plays it to the end', async (_player, program) => {
    const { seconds } = await program(file);
    expect(Math.abs(seconds - mediaSeconds)).toBeLessThan(0.15);
  });
});

it('Mutagen and ffprobe read the chapters of an MP3 in a chosen language', async () => {
  const file = await saved('stream', { url: youTube, lang: 'de' }, 'sound.mp3');
  expect(await pitchOf(file)).toBe(tones.dub);
  const script =
    'import sys, mutagen.id3\nfor c in sorted(mutagen.id3.ID3(sys.argv[1]).getall("CHAP"), key=lambda c: c.start_time): print(c.start_time, c.sub_frames["TIT2"])';
  const { stdout } = await execa('/usr/bin/python3', ['-c', script, file]);
  expect(stdout.split('\n')).toEqual(['0 Anfang ä', '1000 Mitte', '3000 Ende']);
  const probe = ['-v', 'error', '-show_entries', 'chapter_tags=title', '-of', 'csv=p=0', file];
  expect((await execa('ffprobe', probe)).stdout.split('\n')).toEqual(['Anfang ä', 'Mitte', 'Ende']);
});
