import { execFileSync } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { film, launchBrowser, lookUp, visit } from '../support/browser.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const row = (page: Page, target: string) => page.locator(`[data-target="${target}"]`);
const problem = (page: Page) => page.locator('#video-stage').getByRole('alert');

function probe(file: string): { codecs: string[]; seconds: number } {
  const output = execFileSync('ffprobe', [
    ...[
      '-v',
      'error',
      '-show_entries',
      'stream=codec_name:format=duration',
      '-of',
      'default=nk=1:nw=1',
      file,
    ],
  ]);
  const lines = output.toString().trim().split('\n');
  return { codecs: lines.slice(0, -1), seconds: Number(lines.at(-1)) };
}

describe('an address', () => {
  it('is looked up: title, length, and what each download will be', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await lookUp(page, film);
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    expect(await page.locator('#video-duration').textContent()).toBe('0:12');
    expect(await row(page, 'mp4-1080').locator('.download-about').textContent()).toMatch(
      /^1920 × 1080 · H\.264 and AAC as they are · about [\d.]+.MB$/,
    );
    expect(await row(page, 'mp3').locator('.download-about').textContent()).toMatch(
      /^converted from AAC · about \d+.kB$/,
    );
    expect(faults).toEqual([]);
  });

  it('is looked up at once when it is pasted, wherever that is', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.evaluate((text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      document.body.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      );
    }, film);
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
  });

  it('shows the picture that the page gives, from where the page has it', async () => {
    await using reader = await visit(browser);
    const { page, outside } = reader;
    await lookUp(page, `${stack.pages}/with-picture`);
    await page.locator('#video-thumbnail:not([hidden])').waitFor();
    expect(outside).toEqual([`${stack.pages}/poster.svg`]);
  });

  it('that is missing is asked for, without a request', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await lookUp(page, '  ');
    await page.getByText('Paste the address of a video’s page first.').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('video-url');
  });

  it.each([
    ['without a video', `${stack.pages}/only-words`, 'The page is not supported'],
    ['that is gone', `${stack.pages}/gone`, 'Video not found'],
    ['inside a private network', 'http://10.0.0.1/film', 'Address not allowed'],
    ['that is none', 'ftp://example.com/film', 'Invalid address'],
  ])('%s: says in words what is wrong', async (_name, address, title) => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await lookUp(page, address);
    await problem(page).getByRole('heading', { name: title }).waitFor();
    expect((await problem(page).locator('.problem-detail').textContent())?.length).toBeGreaterThan(40);
    expect(await problem(page).getByRole('link', { name: 'What this means' }).getAttribute('href')).toMatch(
      /^\/docs\/errors#[a-z-]+$/,
    );
    expect(await row(page, 'mp3').getByRole('link').getAttribute('aria-disabled')).toBe('true');
    expect(faults).toEqual([]);
  });

  it('of a site that hangs can be given up', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await lookUp(page, `${stack.pages}/hangs`);
    await page.getByText('Looking at the page…').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled.').waitFor();
    await page.getByRole('button', { name: 'Look up' }).waitFor();
  });
});

describe('a download', () => {
  it.each([
    ['mp4-720', 'A short sample film.mp4', ['h264', 'aac']],
    ['mp3', 'A short sample film.mp3', ['mp3']],
  ])('%s is saved by the browser itself, whole', async (target, fileName, codecs) => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await lookUp(page, film);
    const started = page.waitForEvent('download');
    await row(page, target).getByRole('link').click();
    const download = await started;
    expect(download.suggestedFilename()).toBe(fileName);
    await page.getByText('Your browser shows how far it is.').waitFor();
    const file = await download.path();
    const found = probe(file);
    expect(found.codecs).toEqual(codecs);
    expect(found.seconds).toBeCloseTo(12, 0);
    expect(faults).toEqual([]);
  });

  it('that is refused says why, and counts down to when it can be tried again', async () => {
    await using reader = await visit(browser);
    const { page, client } = reader;
    await lookUp(page, film);
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    const address = `${client.url}/api/info?url=${encodeURIComponent(film)}`;
    await expectLimit(address);
    await row(page, 'mp4-1080').getByRole('link').click();
    await problem(page).getByRole('heading', { name: 'Too many requests' }).waitFor();
    const retry = problem(page).getByRole('button', { name: /Try again/ });
    expect(await retry.isDisabled()).toBe(true);
    expect(await retry.textContent()).toMatch(/Try again in \d+ s/);
    const download = page.waitForEvent('download');
    await problem(page).getByRole('button', { name: 'Try again', exact: true }).click();
    await (await download).cancel();
  });
});

/** Uses up what the gateway lets this client ask for. */
async function expectLimit(address: string): Promise<void> {
  const statuses = await Promise.all(Array.from({ length: 16 }, async () => (await fetch(address)).status));
  expect(statuses).toContain(429);
}
