import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { chooseImage, cutOutShown, drop, launchBrowser, paste, visit } from '../support/browser.js';
import { healthy, sendJson, startPageServer, type Handler } from '../support/page-server.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const problem = (page: Page) => page.locator('#image-problem').getByRole('alert');
const photo = readFileSync(stack.photo);
const jpeg = (name: string) => ({ name, type: 'image/jpeg', bytes: photo });

/** Counts what is sent to the service from now on. */
function countUploads(page: Page): { count: number } {
  const uploads = { count: 0 };
  page.on('request', (request) => (uploads.count += request.method() === 'POST' ? 1 : 0));
  return uploads;
}

/** A cut-out as the service sends it: a grey square in the middle of 40 × 30 pixels. */
async function smallCutOut(): Promise<Buffer> {
  const square = { create: { width: 20, height: 10, channels: 4 as const, background: '#808080' } };
  return sharp({ create: { width: 40, height: 30, channels: 4, background: '#00000000' } })
    .composite([{ input: await sharp(square).png().toBuffer() }])
    .png()
    .toBuffer();
}

describe('an image', () => {
  it('is cut out, compared and saved under its own name', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    // What the service takes is said before anything is sent.
    await page.getByText('JPEG, PNG or WebP, up to 15 MB each').waitFor();
    await chooseImage(page);
    await cutOutShown(page);
    expect(await page.locator('#image-status').textContent()).toBe('Done: 1600 × 1200 pixels.');
    expect(await page.locator('#image-quota').textContent()).toBe('4 of 5 images left this minute');

    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save PNG' }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe('photo-cutout.png');
    const file = await download.path();
    const { width, height } = await sharp(file).metadata();
    expect([width, height]).toEqual([1600, 1200]);
    const [, , , alpha] = (await sharp(file).stats()).channels;
    expect([alpha?.min, alpha?.max]).toEqual([0, 255]);
    expect(faults).toEqual([]);
  });

  it.each(['drop', 'paste'] as const)('can be given by %s', async (how) => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.route('**/api/remove-background', () => undefined); // the answer does not matter here
    const sent = page.waitForRequest('**/api/remove-background');
    await (how === 'drop' ? drop(page, jpeg('given.jpg')) : paste(page, jpeg('given.jpg')));
    expect((await sent).headers()['content-type']).toMatch(/^multipart\/form-data/);
    await page.getByAltText('The image as it was given').waitFor();
  });

  it('of the project’s own is there to try', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.getByRole('button', { name: 'Try the sample image' }).click();
    await cutOutShown(page);
  });

  it('that is being sent or worked on can be given up, and sent again', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.route('**/api/remove-background', () => undefined); // an answer that never comes
    await chooseImage(page);
    await page
      .getByText(/Uploading…|Removing the background…/)
      .first()
      .waitFor();
    await page.locator('#image-cancel').click();
    await problem(page).getByRole('heading', { name: 'Cancelled' }).waitFor();
    await page.unroute('**/api/remove-background');
    await problem(page).getByRole('button', { name: 'Try again' }).click();
    await cutOutShown(page);
  });

  it.each([
    ['two at once', 1],
    ['the same one many times, as when a key is held', 8],
  ])('that comes while another is taken does not stop the tool: %s', async (_name, times) => {
    const png = await smallCutOut();
    await using server = await startPageServer({
      'api/health': healthy,
      'api/remove-background': (req, res) => {
        req.resume().on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(png));
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page, faults } = reader;
    for (let count = 0; count < times; count++) await paste(page, jpeg(`${count}.jpg`));
    await drop(page, jpeg('first.jpg'), jpeg('second.jpg'));
    await page
      .locator('#image-strip li[data-state="done"]')
      .nth(times + 1)
      .waitFor();
    await page.getByRole('button', { name: 'second.jpg: done' }).click();
    await page.getByAltText('The image as it was given').waitFor();
    await cutOutShown(page);
    expect(faults).toEqual([]);
  });
});

describe('several images', () => {
  const limited: Handler = (req, res) => {
    req.resume().on('end', () => {
      res.setHeader('Retry-After', '1');
      res.setHeader('RateLimit', '"images"; r=0; t=1');
      res.setHeader('RateLimit-Policy', '"images"; q=2; w=2');
      const body = { title: 'Too many requests', detail: 'Wait 1 s.', code: 'rate_limited', retryable: true };
      sendJson(res, body, 429);
    });
  };

  it('wait for the limit by themselves, and are saved together', async () => {
    const png = await smallCutOut();
    let answers = 0;
    await using server = await startPageServer({
      'api/health': healthy,
      'api/remove-background': (req, res) => {
        answers++;
        if (answers === 2 || answers === 4) limited(req, res);
        else req.resume().on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(png));
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page, faults } = reader;
    await page
      .locator('#image-file')
      .setInputFiles(
        ['a.jpg', 'b.jpg', 'c.jpg'].map((name) => ({ name, mimeType: 'image/jpeg', buffer: photo })),
      );
    await page.getByRole('button', { name: 'b.jpg: waiting' }).click();
    await page
      .getByText(/The limit for this minute is reached\. Continues automatically in \d+\ss\./)
      .waitFor();
    await page.getByRole('button', { name: 'Save all 3' }).waitFor();
    expect(answers).toBe(5);

    const names: string[] = [];
    page.on('download', (download) => names.push(download.suggestedFilename()));
    await page.getByRole('button', { name: 'Save all 3' }).click();
    await page.getByText(/^Saved: 3 images/).waitFor();
    expect(names.sort()).toEqual(['a-cutout.png', 'b-cutout.png', 'c-cutout.png']);

    await page.getByRole('button', { name: 'Remove a.jpg' }).click();
    await page.getByRole('button', { name: 'Save all 2' }).waitFor();
    expect(faults).toEqual([]);
  });
});

describe('what goes wrong with an image is said in words', () => {
  const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1');

  it.each([
    ['a document', 'letter.pdf', Buffer.from('%PDF-1.7'), 0, 'This is a PDF file'],
    ['a photo as phones store it', 'IMG_0001.HEIC', heic, 0, 'This is a HEIC file'],
    ['of another type than its name says', 'picture.png', Buffer.from('GIF89a'), 0, 'This is a GIF file'],
    ['a drawing', 'logo.svg', Buffer.from('<svg xmlns="…"></svg>'), 0, 'This is an SVG file'],
    ['a video', 'film.mp4', Buffer.from('\0\0\0\x18ftypisom', 'latin1'), 0, 'This is a video, not an image'],
    ['nothing', 'empty.jpg', Buffer.alloc(0), 0, 'This file is empty'],
    ['unknown', 'notes.txt', Buffer.from('Buy milk'), 0, 'This is not an image that can be read'],
    ['too large', 'huge.jpg', photo.subarray(0, 64), 17e6, 'This image is too large'],
  ])(
    'a file that is %s: without sending it, and without losing what is there',
    async (_name, name, bytes, zeros, title) => {
      const png = await smallCutOut();
      const upload = { maxFileBytes: 15 * 1024 * 1024 };
      const bgRemoval = { status: 'ok', checks: { upload } };
      await using server = await startPageServer({
        'api/health': (_req, res) => sendJson(res, { status: 'ok', services: { 'bg-removal': bgRemoval } }),
        'api/remove-background': (req, res) => {
          req.resume().on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(png));
        },
      });
      await using reader = await visit(browser, '/', { url: server.url });
      const { page, faults } = reader;
      await page.getByText('JPEG, PNG or WebP, up to 15 MB each').waitFor();
      await chooseImage(page);
      await cutOutShown(page);
      const uploads = countUploads(page);
      await drop(page, { name, type: 'image/jpeg', bytes, zeros });
      await problem(page).getByRole('heading', { name: title }).waitFor();
      expect(await problem(page).locator('.problem-detail').textContent()).toContain(name);
      expect(uploads.count).toBe(0);
      expect(await page.locator('#image-work').getAttribute('data-preview')).toBe('shown');
      expect(await page.getByRole('button', { name: 'Save PNG' }).isEnabled()).toBe(true);
      await problem(page).getByRole('button', { name: 'Close' }).click();
      expect(await problem(page).count()).toBe(0);
      expect(faults).toEqual([]);
    },
  );

  it('more pixels than are taken, before they are sent', async () => {
    const health = {
      status: 'ok',
      services: { 'bg-removal': { checks: { upload: { maxPixels: 1_000_000 } } } },
    };
    await using server = await startPageServer({ 'api/health': (_req, res) => sendJson(res, health) });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page } = reader;
    await page.locator('#service-status[data-status="ok"]').waitFor();
    await page.route('**/api/remove-background', () => undefined);
    await chooseImage(page);
    await problem(page).getByRole('heading', { name: 'This image has too many pixels' }).waitFor();
    expect(await problem(page).locator('.problem-detail').textContent()).toContain(
      '1600 × 1200 (1.9 million); up to 1 million',
    );
  });

  it('damaged', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await drop(page, { name: 'cut.jpg', type: 'image/jpeg', bytes: photo.subarray(0, 200) });
    await problem(page).getByRole('heading', { name: 'The image can’t be read' }).waitFor();
    // There is no “before” to compare with.
    expect(await page.locator('.comparison-label.before').isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });

  it('a service that does not answer', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.route('**/api/remove-background', (route) => route.abort('connectionreset'));
    await chooseImage(page);
    await problem(page).getByRole('heading', { name: 'The connection broke' }).waitFor();
    await page.unroute('**/api/remove-background');
    await problem(page).getByRole('button', { name: 'Try again' }).click();
    await cutOutShown(page);
  });
});
