import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

function probe(file: string): { codecs: string[]; seconds: number } {
  const entries = 'stream=codec_name:format=duration';
  const output = execFileSync('ffprobe', [
    ...['-v', 'error', '-show_entries', entries, '-of', 'default=nk=1:nw=1', file],
  ]);
  const lines = output.toString().trim().split('\n');
  return { codecs: lines.slice(0, -1), seconds: Number(lines.at(-1)) };
}

const mp3 = { target: 'mp3', href: 'api/stream', audio: 'copy', formatIds: [], estimatedBytes: 4 };

it('an MP4 and an MP3 are written completely into chosen files, with progress in their rows', async () => {
  await using reader = await visit(browser, '/', { fileAccess: true });
  const { page, faults } = reader;
  await lookUp(page, film);
  for (const [id, fileName, codecs] of [
    ['video', 'A short sample film.mp4', ['h264', 'aac']],
    ['sound', 'A short sample film.mp3', ['mp3']],
  ] as const) {
    await startChoice(page, id);
    await saved(page, id);
    expect(await choice(page, id).locator('small').textContent()).toContain(fileName);
    const file = join(folder, fileName);
    writeFileSync(file, (await writtenFile(page, fileName)) ?? '');
    expect(probe(file).codecs).toEqual(codecs);
    expect(probe(file).seconds).toBeCloseTo(12, 0);
  }
  expect(faults).toEqual([]);
});

it('without access to files, the page shows the progress too, and the browser saves the complete file', async () => {
  await using reader = await visit(browser);
  const { page, faults } = reader;
  await lookUp(page, film);
  await choice(page, 'small').waitFor();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  const started = page.waitForEvent('download');
  await startChoice(page, 'small');
  const download = await started;
  expect(download.suggestedFilename()).toBe('A short sample film.mp4');
  await saved(page, 'small');
  expect(probe(await download.path()).codecs).toEqual(['h264', 'aac']);
  // What the look-up knows is not asked again.
  expect(requests).toEqual(['GET /api/stream/video']);
  expect(faults).toEqual([]);
});

it('a large file is left to the browser, after the server has agreed', async () => {
  const asked: (string | undefined)[] = [];
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': infoWith([{ ...mp3, estimatedBytes: 90e6 }]),
    'api/stream': ({ method }, res) => {
      asked.push(method);
      res.setHeader('Content-Disposition', 'attachment; filename="film.mp3"');
      res.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': '4' }).end('film');
    },
  });
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  const started = page.waitForEvent('download');
  await startChoice(page, 'sound');
  expect((await started).suggestedFilename()).toBe('film.mp3');
  await choice(page, 'sound').getByText('See your browser’s downloads').waitFor();
  expect(asked).toEqual(['HEAD', 'GET']);
});

it('the button answers at once, a second click does nothing, and a refusal is waited for', async () => {
  const refusal = { title: 'Too many requests', detail: 'Wait 30 s.', code: 'rate_limited', retryable: true };
  let asked = 0;
  let answer = (): void => undefined;
  let isRequested = (): void => undefined;
  const requested = new Promise<void>((resolve) => (isRequested = resolve));
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': infoWith([mp3]),
    'api/stream': (_req, res) => {
      asked++;
      isRequested();
      const isFirst = asked === 1;
      answer = () => {
        res.setHeader('Retry-After', '30');
        if (isFirst) sendJson(res, refusal, 429);
        else res.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': '4' }).end('film');
      };
      if (!isFirst) answer();
    },
  });
  await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
  const { page } = reader;
  await page.clock.install();
  await lookUp(page, 'https://example.com/film');
  await choice(page, 'sound').locator('.choice-act').waitFor();
  const shownAtOnce = await page.evaluate(() => {
    const row = document.querySelector<HTMLElement>('[data-choice="sound"]');
    row?.querySelector<HTMLElement>('.choice-act')?.click();
    row?.querySelector<HTMLElement>('.choice-act')?.click();
    return row?.innerText;
  });
  expect(shownAtOnce).toContain('Preparing…');
  expect(await page.locator('#tray-list > li').count()).toBe(1);
  await requested;
  answer();
  await choice(page, 'sound')
    .getByText(/Continues in \d+/)
    .waitFor();
  // Nothing happens before the time is over, also by a click.
  await choice(page, 'sound').locator('.choice-act').click();
  expect(asked).toBe(1);
  await page.clock.fastForward('01:00');
  await saved(page, 'sound');
  expect((await writtenFile(page, 'A film.mp3'))?.toString()).toBe('film');
  expect(asked).toBe(2);
});

it('a full disk is explained', async () => {
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': infoWith([mp3]),
    'api/stream': (_req, res) => res.writeHead(200, { 'Content-Type': 'audio/mpeg' }).end('film'),
  });
  await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  await choice(page, 'sound').waitFor();
  await page.evaluate(() => {
    const createWritable = () => Promise.reject(new DOMException('', 'QuotaExceededError'));
    Object.assign(window, { showSaveFilePicker: () => Promise.resolve({ createWritable }) });
  });
  await startChoice(page, 'sound');
  await choice(page, 'sound').getByText('The file can’t be saved').waitFor();
});

it('another server’s page, as of a login that has expired, is never saved', async () => {
  let isLoggedOut = true;
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': infoWith([mp3]),
    'api/stream': (_req, res) => {
      res.writeHead(200, { 'Content-Type': isLoggedOut ? 'text/html; charset=utf-8' : 'audio/mpeg' });
      res.end('Log in');
    },
  });
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  await startChoice(page, 'sound');
  await choice(page, 'sound').getByText('The server sent a response').waitFor();
  isLoggedOut = false;
  const started = page.waitForEvent('download');
  await choice(page, 'sound').getByRole('button', { name: 'Try again' }).click();
  await started;
  await saved(page, 'sound');
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
      [undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/), expect.stringMatching(/^bytes=[1-9]\d*-$/)],
    ],
    [
      'starts again where it does not',
      { 'Accept-Ranges': 'none', 'Estimated-Content-Length': String(bytes.length + 1000) },
      false,
      [undefined, undefined, undefined],
    ],
  ] as const)('%s, by itself, and is whole in the end', async (_name, headers, canResume, asked) => {
    const { handler, ranges, breakOff } = breakingOnce(headers, canResume);
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': info,
      'api/stream/video': handler,
    });
    await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
    const { page } = reader;
    await lookUp(page, 'https://example.com/film');
    await startChoice(page, 'video');
    await choice(page, 'video').getByText('1.5 MB of').waitFor();
    breakOff();
    await saved(page, 'video');
    expect(ranges).toEqual(asked);
    expect(digest((await writtenFile(page, 'A film.mp4')) ?? Buffer.alloc(0))).toBe(digest(bytes));
  });

  it('or is cancelled leaves nothing behind', async () => {
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': info,
      'api/stream/video': (_req, res) => {
        res.writeHead(200, { 'Content-Type': 'video/mp4', 'Estimated-Content-Length': '9000000' });
        res.write(bytes);
      },
    });
    await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
    const { page } = reader;
    await lookUp(page, 'https://example.com/film');
    await startChoice(page, 'video');
    await choice(page, 'video')
      .getByText(/3\.0\sMB of about 9\.0\sMB/)
      .waitFor();
    await page.getByRole('button', { name: 'Cancel Video' }).click();
    await choice(page, 'video').and(page.locator('[data-tone="ready"]')).waitFor();
    expect(await page.locator('#tray-list > li').count()).toBe(0);
    expect(await writtenFile(page, 'A film.mp4')).toBeUndefined();
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('choice-act');
  });
});
