import type { Browser, Page } from 'playwright-core';
import { launchBrowser, lookUp, visit, writtenFile } from '../support/browser.js';
import { healthy, infoWith, startPageServer } from '../support/page-server.js';

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
  ...{ href: 'api/stream?fmt=original', container: 'opus', codec: 'opus', bitrateKbps: 128 },
  ...{ isSiteFile: true, estimatedBytes: 8, exactBytes: 8 },
};

/** A video of 200 seconds whose link asks for 1:30; answers as the parameters say. */
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

const href = (page: Page) => page.locator('.download-start').first().getAttribute('href');

it('a part of a video is saved, from where the link suggests to where the reader says', async () => {
  await using site = await startSite();
  await using reader = await visit(browser, '/', { url: site.url });
  const { page, faults } = reader;
  await lookUp(page, 'https://example.com/film?t=90');
  await page.getByRole('button', { name: 'Start at 1:30, as in the link' }).click();
  await page.getByRole('button', { name: 'Whole video' }).waitFor();
  await page.getByRole('textbox', { name: 'End' }).fill('2:00.5');
  await page.keyboard.press('Enter');
  await page.locator('[href*="end=120.5"]').waitFor();
  expect(await href(page)).toBe('api/stream/video?start=90&end=120.5');
  // What the downloads contain: 30.5 seconds.
  expect(await page.locator('#video-duration').textContent()).toBe('0:31');

  await page.reload();
  await page.locator('[href*="end=120.5"]').waitFor();
  expect(await page.getByRole('textbox', { name: 'Start' }).inputValue()).toBe('1:30');
  expect(await page.getByRole('textbox', { name: 'End' }).inputValue()).toBe('2:00.5');
  await page.getByRole('button', { name: 'Whole video' }).click();
  await page.getByRole('button', { name: /^Start at/ }).waitFor();
  expect(site.asked).toEqual([
    {},
    { start: '90' },
    { start: '90', end: '120.5' },
    { start: '90', end: '120.5' },
    {},
  ]);
  expect(faults).toEqual([]);
});

it('times that can’t be are said to be so, without a request', async () => {
  await using site = await startSite();
  await using reader = await visit(browser, '/', { url: site.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  for (const [start, end, words, field] of [
    ['soon', '', 'Enter times such as 1:30.', 'Start'],
    ['0:50', '0:40', 'The end must be after the start.', 'End'],
    ['3:20', '', 'The start must be before the end of the video.', 'Start'],
  ] as const) {
    await page.getByRole('textbox', { name: 'Start' }).fill(start);
    await page.getByRole('textbox', { name: 'End' }).fill(end);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText(words).waitFor();
    expect(await page.getByRole('textbox', { name: field }).getAttribute('aria-invalid')).toBe('true');
  }
  expect(site.asked).toHaveLength(1);
});

it('the whole video can be had where the page is about a part', async () => {
  await using site = await startSite({ clip: { start: 10, end: 20 }, suggestedStart: null });
  await using reader = await visit(browser, '/', { url: site.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/clip/1');
  expect(await page.getByRole('textbox', { name: 'Start' }).inputValue()).toBe('0:10');
  await page.getByRole('button', { name: 'Whole video' }).click();
  await page.locator('[href*="start=0&end=200"]').waitFor();
  expect(site.asked.at(-1)).toEqual({ start: '0', end: '200' });
});

it('the original audio is one of the downloads, under its own type', async () => {
  await using site = await startSite();
  await using reader = await visit(browser, '/', { url: site.url, fileAccess: true });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  const row = page.locator('#video-downloads [data-target="original"]');
  expect(await row.locator('h4').innerText()).toBe('Original audio\nOPUS');
  const about = await row.locator('.download-about').textContent();
  expect(about?.replaceAll('\u00a0', ' ')).toBe('8 bytes · Opus · unchanged from the page');
  await row.getByRole('link').click();
  await page.getByText(/^Saved as audio\.opus/).waitFor();
  expect((await writtenFile(page, 'audio.opus'))?.toString()).toBe('original');
});

it('nothing about parts is shown by a server that knows none', async () => {
  await using site = await startSite({
    clip: undefined,
    originalAudio: undefined,
    suggestedStart: undefined,
  });
  await using reader = await visit(browser, '/', { url: site.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  await page.locator('.download').waitFor();
  expect(await page.locator('#clip').isVisible()).toBe(false);
  expect(await page.locator('.download').count()).toBe(1);
});
