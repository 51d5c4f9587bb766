import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { film, launchBrowser, lookUp, visit, writtenFile } from '../support/browser.js';
import { healthy, infoWith, sendJson, startPageServer } from '../support/page-server.js';

let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), 'media-services-downloads-'));
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const offer = (page: Page, target: string) => page.locator(`#video-downloads [data-target="${target}"]`);
const entry = (page: Page, target: string) => page.locator(`#tray [data-target="${target}"]`);
const problem = (page: Page) => page.locator('#tray').getByRole('alert');

function probe(file: string): { codecs: string[]; seconds: number } {
  const entries = 'stream=codec_name:format=duration';
  const output = execFileSync('ffprobe', [
    ...['-v', 'error', '-show_entries', entries, '-of', 'default=nk=1:nw=1', file],
  ]);
  const lines = output.toString().trim().split('\n');
  return { codecs: lines.slice(0, -1), seconds: Number(lines.at(-1)) };
}

describe('if the browser lets pages write files', () => {
  it('an MP4 and an MP3 are saved completely, with progress in their rows', async () => {
    await using reader = await visit(browser, '/', { fileAccess: true });
    const { page, faults } = reader;
    await lookUp(page, film);
    for (const [target, fileName, codecs] of [
      ['mp4-1080', 'A short sample film.mp4', ['h264', 'aac']],
      ['mp3', 'A short sample film.mp3', ['mp3']],
    ] as const) {
      await offer(page, target).getByRole('link').click();
      await entry(page, target).and(page.locator('[data-state="done"]')).waitFor();
      const state = await entry(page, target).locator('.tray-state').textContent();
      expect(state).toContain(`Saved as ${fileName}`);
      const file = join(folder, fileName);
      writeFileSync(file, (await writtenFile(page, fileName)) ?? '');
      expect(probe(file).codecs).toEqual(codecs);
      expect(probe(file).seconds).toBeCloseTo(12, 0);
    }
    expect(faults).toEqual([]);
  });
});

describe('if it does not', () => {
  it('the browser saves the complete file', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await lookUp(page, film);
    const started = page.waitForEvent('download');
    await offer(page, 'mp4-720').getByRole('link').click();
    const download = await started;
    expect(download.suggestedFilename()).toBe('A short sample film.mp4');
    await page.getByText('See your browser’s downloads').waitFor();
    expect(probe(await download.path()).codecs).toEqual(['h264', 'aac']);
    expect(faults).toEqual([]);
  });
});

it('a rejected download says why before anything is saved, and counts down to the retry', async () => {
  const refusal = { title: 'Too many requests', detail: 'Wait 30 s.', code: 'rate_limited', retryable: true };
  let asked = 0;
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': infoWith([
      { target: 'mp3', href: 'api/stream', audio: 'copy', formatIds: [], estimatedBytes: 4 },
    ]),
    'api/stream': (_req, res) => {
      asked++;
      res.setHeader('Retry-After', '30');
      if (asked <= 2) sendJson(res, refusal, 429);
      else res.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': '4' }).end('film');
    },
  });
  await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
  const { page } = reader;
  await page.clock.install();
  await lookUp(page, 'https://example.com/film');
  await offer(page, 'mp3').getByRole('link').click();
  await problem(page).getByRole('heading', { name: 'Too many requests' }).waitFor();
  expect(await writtenFile(page, 'audio.mp3')).toBeUndefined();
  const retry = problem(page).getByRole('button', { name: /Try again/ });
  expect(await retry.isDisabled()).toBe(true);
  expect(await retry.textContent()).toMatch(/Try again in \d+\sseconds/);
  await page.clock.fastForward('00:30');
  await problem(page).getByRole('button', { name: 'Try again', exact: true }).click();
  await entry(page, 'mp3').and(page.locator('[data-state="done"]')).waitFor();
  expect((await writtenFile(page, 'audio.mp3'))?.toString()).toBe('film');

  await page.evaluate(() => {
    const createWritable = () => Promise.reject(new DOMException('', 'QuotaExceededError'));
    Object.assign(window, { showSaveFilePicker: () => Promise.resolve({ createWritable }) });
  });
  await offer(page, 'mp3').getByRole('link').click();
  await problem(page).getByRole('heading', { name: 'The file can’t be saved' }).waitFor();
});

it('another server’s page, as of a login that has expired, is never saved', async () => {
  let isLoggedOut = true;
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': infoWith([
      { target: 'mp3', href: 'api/stream', audio: 'copy', formatIds: [], estimatedBytes: 4 },
    ]),
    'api/stream': (_req, res) => {
      res.writeHead(200, { 'Content-Type': isLoggedOut ? 'text/html; charset=utf-8' : 'audio/mpeg' });
      res.end('Log in');
    },
  });
  await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  await offer(page, 'mp3').getByRole('link').click();
  await problem(page).getByRole('heading', { name: 'The server sent a response' }).waitFor();
  expect(await writtenFile(page, 'audio.mp3')).toBeUndefined();
  isLoggedOut = false;
  await problem(page).getByRole('button', { name: 'Try again' }).click();
  await entry(page, 'mp3').and(page.locator('[data-state="done"]')).waitFor();
});

describe('an interrupted download', () => {
  const bytes = randomBytes(3_000_000);
  const half = 1_500_000;
  const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');
  const download = { target: 'mp4-720', href: 'api/stream/video', video: 'copy', audio: 'copy' };
  const info = infoWith([{ ...download, height: 720, formatIds: ['1'], estimatedBytes: bytes.length }]);

  /**
   * Sends half of the file the first time and holds, until `breakOff`; rejects the second request,
   * as while it restarts. Keeps the ranges that are asked for.
   */
  function breakingOnce(headers: Readonly<Record<string, string>>, canResume: boolean) {
    const ranges: (string | undefined)[] = [];
    const held: ServerResponse[] = [];
    const handler = (req: IncomingMessage, res: ServerResponse): void => {
      const common = { ...headers, 'Content-Type': 'video/mp4' };
      if (req.method === 'HEAD') {
        res.writeHead(200, common).end();
        return;
      }
      ranges.push(req.headers.range);
      if (ranges.length === 2) {
        sendJson(res, { title: 'T', detail: 'D', code: 'service_unavailable', retryable: true }, 503);
        return;
      }
      const start = canResume ? Number(/\d+/.exec(req.headers.range ?? '')?.[0] ?? 0) : 0;
      if (start > 0) {
        const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
        const length = String(bytes.length - start);
        res.writeHead(206, { ...common, 'Content-Range': range, 'Content-Length': length });
        res.end(bytes.subarray(start));
        return;
      }
      res.writeHead(200, common);
      if (ranges.length > 1) res.end(bytes);
      else {
        held.push(res);
        res.write(bytes.subarray(0, half));
      }
    };
    const breakOff = (): void => held.forEach((res) => res.destroy());
    return { handler, ranges, breakOff };
  }

  it.each([
    [
      'goes on at its last byte where the server serves ranges',
      { 'Accept-Ranges': 'bytes', ETag: '"v1"', 'Content-Length': String(bytes.length) },
      true,
      ['Resume', 'Resume'],
      [undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/), expect.stringMatching(/^bytes=[1-9]\d*-$/)],
    ],
    [
      'starts again where it does not',
      { 'Accept-Ranges': 'none', 'Estimated-Content-Length': String(bytes.length + 1000) },
      false,
      ['Start again', 'Try again'],
      [undefined, undefined, undefined],
    ],
  ] as const)('%s, and is whole in the end', async (_name, headers, canResume, buttons, asked) => {
    const { handler, ranges, breakOff } = breakingOnce(headers, canResume);
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': info,
      'api/stream/video': handler,
    });
    await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
    const { page } = reader;
    await lookUp(page, 'https://example.com/film');
    await offer(page, 'mp4-720').getByRole('link').click();
    await entry(page, 'mp4-720').getByText('1.5 MB of').waitFor();
    breakOff();
    await entry(page, 'mp4-720').getByText('The connection broke after 1.5 MB.').waitFor();
    const [first, second] = buttons;
    await entry(page, 'mp4-720').getByRole('button', { name: first }).click();
    await entry(page, 'mp4-720').getByText('This tool isn’t available right now').waitFor();
    expect((await page.evaluate(() => document.activeElement?.textContent))?.trim()).toBe(second);
    await page.keyboard.press('Enter');
    await entry(page, 'mp4-720').and(page.locator('[data-state="done"]')).waitFor();
    expect(ranges).toEqual(asked);
    expect(digest((await writtenFile(page, 'video.mp4')) ?? Buffer.alloc(0))).toBe(digest(bytes));
  });

  it('or is cancelled leaves nothing behind', async () => {
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': info,
      'api/stream/video': (req, res) => {
        res.writeHead(200, { 'Content-Type': 'video/mp4', 'Estimated-Content-Length': '9000000' });
        if (req.method === 'HEAD') res.end();
        else res.write(bytes);
      },
    });
    await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
    const { page } = reader;
    await lookUp(page, 'https://example.com/film');
    await offer(page, 'mp4-720').getByRole('link').click();
    await entry(page, 'mp4-720')
      .getByText(/[\d.]+\sMB of about 9\.0\sMB\s· \d+%/)
      .waitFor();
    await page.getByRole('button', { name: 'Cancel 720p MP4 of A film' }).click();
    await page.getByText('Cancelled.').waitFor();
    expect(await entry(page, 'mp4-720').count()).toBe(0);
    expect(await page.locator('#tray').isVisible()).toBe(false);
    expect(await writtenFile(page, 'video.mp4')).toBeUndefined();
  });
});
