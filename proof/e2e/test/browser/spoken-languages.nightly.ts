import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Double, tones, videoId } from '@media-services/fault-site/double';
import type { Browser, Page } from 'playwright-core';
import {
  choice,
  drop,
  launchBrowser,
  launchFirefox,
  lookUp,
  saved,
  startChoice,
  visit,
} from '../support/browser.js';
import { pitchOf } from '../support/pitch.js';
import { startWhole, type Place } from '../support/place.js';

// Dubbed videos with captions, from the page to the saved file: the real gateway and service, YouTube's double.

let folder: string;
let double: Double;
let place: Place;
let browsers: Record<'Chromium' | 'Firefox', Browser>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-languages-'));
  double = await Double.start();
  place = await startWhole(double.settings);
  browsers = { Chromium: await launchBrowser(folder), Firefox: await launchFirefox(folder) };
});
afterAll(async () => {
  await Promise.all(Object.values(browsers).map((browser) => browser.close()));
  await place[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const run = promisify(execFile);
const watchPage = (number: number) => `https://www.youtube.com/watch?v=${videoId('spoken', number)}`;

/** Where the files are that an action of the browser adds to its downloads. */
async function filesOf(action: () => Promise<void>, count = 1): Promise<string[]> {
  const earlier = readdirSync(folder);
  const files = () => readdirSync(folder).filter((name) => !earlier.includes(name));
  await action();
  // Firefox writes into a second file, whose name ends differently.
  await expect.poll(() => files().map((name) => !name.endsWith('.part'))).toEqual(Array(count).fill(true));
  return files().map((name) => join(folder, name));
}

/** The file of a choice that the user clicks. */
async function fileOf(page: Page, id: string): Promise<string> {
  const [file = ''] = await filesOf(async () => {
    await startChoice(page, id);
    await choice(page, id).and(page.locator('[data-tone="done"]')).waitFor();
  });
  return file;
}

/** The kind of each stream, with the language that it states. */
async function streamsOf(file: string): Promise<string[]> {
  const entries = 'stream=codec_type:stream_tags=language';
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', file]);
  return stdout.trim().split('\n');
}

const germanRows = (page: Page) => page.locator('.row-state', { hasText: 'German' });

describe.each(['Chromium', 'Firefox'] as const)('in %s', (name) => {
  const open = () => visit(browsers[name], '/', { url: place.url });

  it('a video is saved in the chosen language, with its subtitles, and these as text', async () => {
    await using reader = await open();
    const { page, faults } = reader;
    await lookUp(page, watchPage(1));
    await page.getByRole('combobox', { name: 'Spoken language' }).selectOption('German');
    await page.getByRole('combobox', { name: 'Subtitles' }).selectOption('English (automatic)');
    const video = await fileOf(page, 'video');
    expect(await streamsOf(video)).toEqual(['video,und', 'audio,und', 'subtitle,eng']);
    expect(await pitchOf(video)).toBe(tones.dub);
    const sound = await fileOf(page, 'sound');
    expect(await pitchOf(sound)).toBe(tones.dub);
    await page.getByText('Other sizes and formats').click();
    const text = await fileOf(page, 'text');
    expect(readFileSync(text, 'utf8')).toContain('hello world');
    expect(faults).toEqual([]);
  });

  it('“Download all” saves every link in it, also after a reload, and the next link starts in it', async () => {
    await using reader = await open();
    const { page } = reader;
    await drop(page, [2, 3].map(watchPage).join('\n'));
    await page.getByRole('combobox', { name: 'Spoken language' }).selectOption('German');
    await germanRows(page).nth(1).waitFor();
    await page.reload();
    await germanRows(page).nth(1).waitFor();
    const files = await filesOf(async () => {
      await page.getByRole('button', { name: 'Download all 2' }).click();
      await page.getByText('2 of 2 saved').waitFor();
    }, 2);
    for (const file of files) expect(await pitchOf(file)).toBe(tones.dub);

    await lookUp(page, watchPage(4));
    await startChoice(page, 'sound');
    await page.getByLabel('Do the same for the next link').check();
    await saved(page, 'sound');
    await lookUp(page, watchPage(5));
    await choice(page, 'sound').getByText('Sound only, German').waitFor();
    await saved(page, 'sound');
  });

  it('a chapter is filled in as a clip', async () => {
    await using reader = await open();
    const { page } = reader;
    await lookUp(page, watchPage(6));
    await page.getByText('Save only a part').click();
    await page.getByRole('combobox', { name: 'Chapter' }).selectOption({ label: '0:01\u00a0· Mitte' });
    await page.getByRole('button', { name: 'Apply' }).click();
    await choice(page, 'video').getByText('Video, 0:01–0:03').waitFor();
    expect(
      await page.getByRole('combobox', { name: 'Chapter' }).locator('option:checked').textContent(),
    ).toContain('Mitte');
  });
});
