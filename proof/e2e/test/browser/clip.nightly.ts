import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import {
  choice,
  film,
  launchBrowser,
  lookUp,
  saved,
  startChoice,
  visit,
  writtenFile,
} from '../support/browser.js';
import { healthy, infoWith, startPageServer } from '../support/page-server.js';
import { stack } from '../support/stack.js';

const run = promisify(execFile);

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const video = {
  target: 'mp4-720',
  video: 'copy',
  audio: 'copy',
  height: 720,
  formatIds: [],
  estimatedBytes: 9e6,
};
const originalAudio = {
  href: 'api/stream?fmt=original',
  container: 'opus',
  codec: 'opus',
  bitrateKbps: 128,
  isSiteFile: true,
  estimatedBytes: 8,
  exactBytes: 8,
};

/** A video of 200 seconds whose link selects 1:30; responds according to the parameters. */
async function startSite(more: object = {}) {
  const asked: Record<string, string>[] = [];
  const server = await startPageServer({
    'api/health': healthy,
    'api/info': (req, res) => {
      const { searchParams } = new URL(req.url ?? '', 'http://page');
      searchParams.delete('url');
      const part = Object.fromEntries(searchParams);
      asked.push(part);
      const isClip = 'start' in part || 'end' in part;
      const clip = isClip ? { start: Number(part['start'] ?? 0), end: Number(part['end'] ?? 200) } : null;
      const href = `api/stream/video?${new URLSearchParams(part).toString()}`;
      const facts = { duration: 200, clip, suggestedStart: 90, originalAudio, ...more };
      infoWith([{ ...video, href }], [], facts)(req, res);
    },
    'api/stream': (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'audio/ogg', 'Content-Length': '8' }).end('original');
    },
  });
  return { url: server.url, asked, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

it('the downloads become a part of the video, from the start in the link to a typed end', async () => {
  await using site = await startSite();
  await using reader = await visit(browser, '/', { url: site.url });
  const { page, faults } = reader;
  await lookUp(page, 'https://example.com/film?t=90');
  await page.getByRole('button', { name: 'Start at 1:30, as in the link' }).click();
  await page.getByRole('button', { name: 'Whole video' }).waitFor();
  await page.getByRole('textbox', { name: 'End' }).fill('2:00.5');
  await page.keyboard.press('Enter');
  await choice(page, 'video').getByText('Video, 1:30–2:00.5').waitFor();
  // What the downloads contain: 30.5 seconds.
  expect(await page.locator('#video-duration').textContent()).toBe('0:31');

  await page.reload();
  await choice(page, 'video').getByText('Video, 1:30–2:00.5').waitFor();
  expect(await page.getByRole('textbox', { name: 'Start' }).inputValue()).toBe('1:30');
  expect(await page.getByRole('textbox', { name: 'End' }).inputValue()).toBe('2:00.5');
  await page.getByRole('button', { name: 'Whole video' }).click();
  await page.getByRole('button', { name: /^Start at/ }).waitFor();
  expect(site.asked).toEqual([{}, { start: '90' }, { start: '90', end: '120.5' }, {}]);
  expect(faults).toEqual([]);
});

/** The seconds of a file, and its first frame as pixels of 64 × 36, decoded by ffmpeg. */
async function decoded(file: string): Promise<{ seconds: number; firstFrame: Buffer }> {
  const format = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'default=nk=1:nw=1'];
  const { stdout: seconds } = await run('ffprobe', [...format, file]);
  return { seconds: Number(seconds), firstFrame: await frameAt(file, 0) };
}

async function frameAt(file: string, seconds: number): Promise<Buffer> {
  const small = ['-frames:v', '1', '-vf', 'scale=64:36', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'];
  const options = { encoding: 'buffer' } as const;
  return (await run('ffmpeg', ['-v', 'error', '-ss', String(seconds), '-i', file, ...small], options)).stdout;
}

/** The mean difference of two frames, of 255. */
function difference(one: Buffer, other: Buffer): number {
  expect(one.length).toBe(64 * 36 * 3);
  return one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0) / one.length;
}

it('a clip of a real page starts and ends at the typed times', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'media-services-clip-'));
  try {
    await using reader = await visit(browser, '/', { fileAccess: true });
    const { page, faults } = reader;
    await lookUp(page, film);
    await page.getByText('Save only a part').click();
    // At a key frame: nothing is encoded, which a busy machine can't do in time.
    await page.getByRole('textbox', { name: 'Start' }).fill('0:04');
    await page.getByRole('textbox', { name: 'End' }).fill('8.5');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Whole video' }).waitFor();
    expect(await page.locator('#video-duration').textContent()).toBe('0:05');
    await startChoice(page, 'small');
    await saved(page, 'small');
    const state = await choice(page, 'small').locator('small').textContent();
    const name = /· (.*\.mp4)/.exec(state ?? '')?.[1] ?? '';
    const file = join(folder, 'clip.mp4');
    writeFileSync(file, (await writtenFile(page, name)) ?? '');
    const { seconds, firstFrame } = await decoded(file);
    expect(seconds).toBeCloseTo(4.5, 1);
    const original = join(stack.folder, 'film-720.mp4');
    expect(difference(firstFrame, await frameAt(original, 4))).toBeLessThan(3);
    // The video moves, so the frame a second earlier differs.
    expect(difference(firstFrame, await frameAt(original, 3))).toBeGreaterThan(5);
    expect(faults).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('impossible times are rejected without a request; the original audio is one of the downloads, under its own type', async () => {
  await using site = await startSite();
  await using reader = await visit(browser, '/', { url: site.url, fileAccess: true });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  for (const [start, end, words, field] of [
    ['soon', '', 'Enter times such as 1:30.', 'Start'],
    // As a Chinese or Japanese keyboard writes it.
    ['０：５０', '0:40', 'The end must be after the start.', 'End'],
    ['3:20', '', 'The start must be before the end of the video.', 'Start'],
  ] as const) {
    await page.getByRole('textbox', { name: 'Start' }).fill(start);
    await page.getByRole('textbox', { name: 'End' }).fill(end);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText(words).waitFor();
    expect(await page.getByRole('textbox', { name: field }).getAttribute('aria-invalid')).toBe('true');
  }
  expect(site.asked).toHaveLength(1);

  const row = choice(page, 'original');
  expect(await row.locator('strong').textContent()).toBe('Original sound');
  const about = await row.locator('small').textContent();
  expect(about?.replaceAll('\u00a0', ' ')).toBe('8 bytes · OPUS');
  await startChoice(page, 'original');
  await saved(page, 'original');
  expect((await writtenFile(page, 'A film.opus'))?.toString()).toBe('original');
});

it('a page about a part of a video also offers the whole one', async () => {
  await using site = await startSite({ clip: { start: 10, end: 20 }, suggestedStart: null });
  await using reader = await visit(browser, '/', { url: site.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/clip/1');
  expect(await page.getByRole('textbox', { name: 'Start' }).inputValue()).toBe('0:10');
  await page.getByRole('button', { name: 'Whole video' }).click();
  await expect.poll(() => site.asked.at(-1)).toEqual({ start: '0', end: '200' });
});

it('a server without clips gets no clip controls', async () => {
  await using site = await startSite({
    clip: undefined,
    originalAudio: undefined,
    suggestedStart: undefined,
  });
  await using reader = await visit(browser, '/', { url: site.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  await page.locator('.choice').waitFor();
  expect(await page.locator('#clip').isVisible()).toBe(false);
  expect(await page.locator('.choice').count()).toBe(1);
});
