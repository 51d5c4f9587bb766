import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { atNight } from '../../../vitest/at-night.js';
import {
  answerImages,
  chooseImage,
  cutOutShown,
  drop,
  keptForReload,
  launchBrowser,
  paste,
  rectangleCutOut,
  visit,
} from '../support/browser.js';
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

/** Counts requests to the service from now on. */
function countUploads(page: Page): { count: number } {
  const uploads = { count: 0 };
  page.on('request', (request) => (uploads.count += request.method() === 'POST' ? 1 : 0));
  return uploads;
}

/** X of the red primary in an ICC profile; a file without one is sRGB. */
function redPrimaryOf(profile: Buffer | undefined): number {
  if (profile === undefined) return 0.436;
  const tag = profile.indexOf('rXYZ');
  return profile.readInt32BE(profile.readUInt32BE(tag + 4) + 8) / 65_536;
}

/** The names in a ZIP archive and the width of each image, read by another program. */
async function zipEntries(file: string): Promise<[string, number][]> {
  const script = `import json, struct, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print(json.dumps([[n, struct.unpack('>I', archive.read(n)[16:20])[0]] for n in archive.namelist()]))`;
  const { stdout } = await promisify(execFile)('python3', ['-c', script, file]);
  return JSON.parse(stdout) as [string, number][];
}

describe('an image', () => {
  it('is cut out, compared and saved under its own name', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    // The limits are shown before anything is sent.
    await page.getByText('JPEG, PNG or WebP, up to 15 MB each').waitFor();
    await chooseImage(page);
    await cutOutShown(page);
    expect(await page.locator('#image-status').textContent()).toBe('Done: 1600 × 1200 pixels.');
    await page.getByText(/^[\d.]+\s[kM]B\s· 1600 × 1200\s· PNG$/).waitFor();

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

  it('is cut out, even if it was chosen before the code of the page had arrived', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await answerImages(page);
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    await page.route('**/texts/en.json', async (route) => {
      await arrived;
      await route.continue();
    });
    const reloaded = page.reload();
    await page.waitForRequest('**/texts/en.json');
    await chooseImage(page);
    arrive();
    await reloaded;
    await cutOutShown(page);
  });

  it('can be cancelled during upload and processing, which a reload warns of losing, and sent again', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.route('**/api/remove-background', () => undefined); // an answer that never comes
    await chooseImage(page);
    await page
      .getByText(/Uploading…|Cutting out…/)
      .first()
      .waitFor();
    const warned = page.waitForEvent('dialog');
    void page.reload().catch(() => undefined);
    await (await warned).dismiss();
    await page.locator('#image-cancel').click();
    await problem(page).getByRole('heading', { name: 'Cancelled' }).waitFor();
    expect((await page.evaluate(() => document.activeElement?.textContent))?.trim()).toBe('Try again');
    await answerImages(page);
    await page.keyboard.press('Enter');
    await cutOutShown(page);
  });

  it.each([
    ['the same one many times, as when a key is held', 8],
    ...atNight([['two at once', 1] as const]),
  ] as const)(
    'is pasted or dropped; one that arrives while another is processed does not stop the tool: %s',
    async (_name, times) => {
      const png = await rectangleCutOut();
      await using server = await startPageServer({
        'api/health': healthy,
        'api/remove-background': (req, res) => {
          req.resume().on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(png));
        },
      });
      await using reader = await visit(browser, '/', { url: server.url });
      const { page, faults } = reader;
      const sent = page.waitForRequest('**/api/remove-background');
      for (let count = 0; count < times; count++) await paste(page, jpeg(`${count}.jpg`));
      expect((await sent).headers()['content-type']).toMatch(/^multipart\/form-data/);
      await drop(page, jpeg('first.jpg'), jpeg('second.jpg'));
      await page
        .locator('#image-strip li[data-state="done"]')
        .nth(times + 1)
        .waitFor();
      await page.getByRole('button', { name: 'second.jpg: done' }).click();
      await page.getByAltText('The original image').waitFor({ state: 'attached' });
      await cutOutShown(page);
      expect(faults).toEqual([]);
    },
  );
});

describe('several images', () => {
  const limited: Handler = (req, res) => {
    req.resume().on('end', () => {
      res.setHeader('Retry-After', '30');
      res.setHeader('RateLimit', '"images"; r=0; t=30');
      res.setHeader('RateLimit-Policy', '"images"; q=2; w=60');
      const body = {
        title: 'Too many requests',
        detail: 'Wait 30 s.',
        code: 'rate_limited',
        retryable: true,
      };
      sendJson(res, body, 429);
    });
  };

  it('wait for the rate limit automatically, and are saved together', async () => {
    const png = await rectangleCutOut();
    let answers = 0;
    let secondIsShown = (): void => undefined;
    const first = new Promise<void>((resolve) => (secondIsShown = resolve));
    await using server = await startPageServer({
      'api/health': healthy,
      'api/remove-background': (req, res) => {
        answers++;
        const send = () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(png);
        if (answers === 2) limited(req, res);
        else req.resume().on('end', () => void (answers === 1 ? first.then(send) : send()));
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page, faults } = reader;
    await page.clock.install();
    await page
      .locator('#image-file')
      .setInputFiles(
        ['a.jpg', 'b.jpg', 'c.jpg'].map((name) => ({ name, mimeType: 'image/jpeg', buffer: photo })),
      );
    await page.getByRole('button', { name: 'b.jpg: waiting' }).click();
    secondIsShown();
    await page
      .locator('#image-busy-text')
      .getByText(/^Continues in \d+\sseconds$/)
      .waitFor();
    await page.clock.fastForward('00:30');
    await page.getByRole('button', { name: 'Save 3' }).waitFor();
    expect(answers).toBe(4);

    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save 3' }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe('cutouts.zip');
    expect(await zipEntries(await download.path())).toEqual([
      ['a-cutout.png', 40],
      ['b-cutout.png', 40],
      ['c-cutout.png', 40],
    ]);

    await page.getByRole('button', { name: 'a.jpg: done' }).press('Delete');
    await page.getByRole('button', { name: 'Save 2' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByRole('button', { name: 'Save 3' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('wait for a service that restarts, and are then sent by themselves, except for removed ones', async () => {
    const png = await rectangleCutOut();
    let isDown = true;
    await using server = await startPageServer({
      'api/health': (req, res) => {
        const services = { 'video-dl': { status: 'ok' }, 'bg-removal': { status: 'starting' } };
        if (isDown) sendJson(res, { status: 'error', services }, 503);
        else healthy(req, res);
      },
      'api/remove-background': (req, res) => {
        req.resume().on('end', () => {
          const body = { title: 'T', detail: 'D', code: 'service_unavailable', retryable: true };
          if (isDown) sendJson(res, body, 503);
          else res.writeHead(200, { 'Content-Type': 'image/png' }).end(png);
        });
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page, faults } = reader;
    await drop(page, jpeg('a.jpg'), jpeg('b.jpg'), jpeg('c.jpg'));
    await page.getByText('The server is starting again. Nothing is lost').waitFor();
    for (const name of ['b.jpg', 'c.jpg'])
      await page.getByRole('button', { name: `${name}: waiting` }).waitFor();
    await page.getByRole('button', { name: 'a.jpg: waiting' }).press('Delete');
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('b.jpg: waiting');

    const uploads = countUploads(page);
    isDown = false;
    await page.locator('#image-strip li[data-state="done"]').nth(1).waitFor();
    expect(uploads.count).toBe(2);
    expect(await problem(page).count()).toBe(0);
    for (const name of ['b.jpg', 'c.jpg'])
      await page.getByRole('button', { name: `${name}: done` }).press('Delete');
    await page.getByRole('button', { name: 'Choose pictures' }).waitFor();
    expect(faults).toEqual([]);
  });
});

describe('an image that the service would reject', () => {
  const limits = (imageLimits: object): Handler => {
    const health = { status: 'ok', services: { 'bg-removal': { status: 'ok', limits: imageLimits } } };
    return (_req, res) => sendJson(res, health);
  };

  /** Opens a file on a page with limits, and returns what the page sends instead. */
  async function sentInstead(
    imageLimits: object,
    name: string,
    bytes: Buffer | ((page: Page) => Promise<Buffer>),
  ) {
    const sent: Buffer[] = [];
    const png = await rectangleCutOut();
    await using server = await startPageServer({
      'api/health': limits(imageLimits),
      'api/remove-background': (req, res) => {
        req.on('data', (chunk: Buffer) => sent.push(chunk));
        req.on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(png));
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page } = reader;
    await page.locator('#service-status[data-status="ok"]').waitFor();
    await drop(page, { name, type: '', bytes: Buffer.isBuffer(bytes) ? bytes : await bytes(page) });
    await cutOutShown(page);
    const body = Buffer.concat(sent);
    const end = body.lastIndexOf('\r\n--', body.length - 4);
    const image = body.subarray(body.indexOf('\r\n\r\n', body.indexOf('filename=')) + 4, end);
    const notes = await page.locator('#image-notes').textContent();
    return { file: image, image: await sharp(image).metadata(), notes };
  }

  it('for its pixels is made smaller, with a note', async () => {
    const { image, notes } = await sentInstead({ imageMaxPixels: 1_000_000 }, 'photo.jpg', photo);
    expect(image).toMatchObject({ format: 'jpeg', width: 1154, height: 866 });
    expect(notes).toContain('“photo.jpg” was made smaller: 1154 × 866');
  });

  it('for its pixels is made smaller, even if it was chosen before the limits had arrived', async () => {
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    await using server = await startPageServer({
      'api/health': (req, res) => void arrived.then(() => limits({ imageMaxPixels: 100_000 })(req, res)),
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page } = reader;
    await answerImages(page);
    await paste(page, jpeg('photo.jpg'));
    arrive();
    await cutOutShown(page);
    expect(await page.locator('#image-notes').textContent()).toMatch(/made smaller/);
  });

  it('for its bytes is made smaller', async () => {
    const { image } = await sentInstead({ imageMaxBytes: 20_000 }, 'photo.jpg', photo);
    expect(image.format).toBe('jpeg');
    expect(image.width).toBeLessThan(1600);
  });

  it('for its type is converted where the browser can read it', async () => {
    const avif = await sharp(photo).resize(200).avif().toBuffer();
    const { image, notes } = await sentInstead({}, 'photo.avif', avif);
    expect(image).toMatchObject({ format: 'webp', width: 200, height: 150 });
    expect(notes).toContain('“photo.avif” was converted');
  });

  it.each([['display-p3', 0.515], ...atNight([['srgb', 0.436] as const])] as const)(
    'keeps the colours of %s when it is made smaller',
    async (colorSpace, redPrimary) => {
      const red = async (page: Page) => {
        const bytes = await page.evaluate(async (space) => {
          const canvas = new OffscreenCanvas(400, 300);
          const context = canvas.getContext('2d', { colorSpace: space });
          if (context === null) throw new Error('There is no canvas.');
          context.fillStyle = `color(${space} 1 0 0)`;
          context.fillRect(0, 0, 400, 300);
          const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 1 });
          return [...new Uint8Array(await blob.arrayBuffer())];
        }, colorSpace);
        return Buffer.from(bytes);
      };
      const { file, image } = await sentInstead({ imageMaxPixels: 10_000 }, 'red.jpg', red);
      expect(image).toMatchObject({ format: 'jpeg', width: 115, height: 86 });
      expect(redPrimaryOf(image.icc)).toBeCloseTo(redPrimary, 2);
      const [r = 0, g = 255, b = 255] = await sharp(file, { ignoreIcc: true }).raw().toBuffer();
      expect(r).toBeGreaterThan(250);
      expect(Math.max(g, b)).toBeLessThan(5);
    },
  );
});

describe('a finished cut-out', () => {
  async function finished() {
    const png = await rectangleCutOut();
    const server = await startPageServer({
      'api/health': healthy,
      'api/remove-background': (req, res) => {
        req.resume().on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(png));
      },
    });
    const reader = await visit(browser, '/', { url: server.url });
    await chooseImage(reader.page);
    await cutOutShown(reader.page);
    return {
      page: reader.page,
      save: async () => {
        const started = reader.page.waitForEvent('download');
        await reader.page.locator('#image-save').click();
        const download = await started;
        return { name: download.suggestedFilename(), image: sharp(await download.path()) };
      },
      [Symbol.asyncDispose]: async () => {
        await reader[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  it('survives a reload, which warns before it is saved, until it is removed', async () => {
    await using work = await finished();
    const { page, save } = work;
    await keptForReload(page, 'results');
    const warning = page.waitForEvent('dialog');
    const reloaded = page.reload();
    const dialog = await warning;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.accept();
    await reloaded;
    await cutOutShown(page);
    expect((await save()).name).toBe('photo-cutout.png');

    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Choose pictures' }).waitFor();
    expect(await page.locator('#image-work').isVisible()).toBe(false);
  });

  it('is kept for its own tab only, until that is closed', async () => {
    await using work = await finished();
    const { page } = work;
    await keptForReload(page, 'results');
    const other = await page.context().newPage();
    // Its own tab may be open for days.
    await other.clock.setSystemTime(Date.now() + 48 * 3600_000);
    await other.goto(page.url());
    await other.locator('#service-status[data-status="ok"]').waitFor();
    expect(await other.locator('#image-work').isVisible()).toBe(false);
    await page.reload();
    await cutOutShown(page);

    await page.close();
    await other.reload();
    await keptForReload(other, 'results', false);
  });

  it('is shown as it will be saved: shape, margin, shadow, background, mask, format and size', async () => {
    await using work = await finished();
    const { page, save } = work;
    const frame = page.locator('#image-comparison');
    const after = page.locator('.comparison-after');
    /** What is saved and what is shown: sizes, and colours at the corner and in the centre. */
    const compared = async (facts: RegExp) => {
      await page.locator('#image-file-facts').getByText(facts).waitFor();
      const { name, image } = await save();
      const { data, info } = await image.clone().ensureAlpha().raw().toBuffer({ resolveWithObject: true });
      const onScreen = await after.evaluate((element: HTMLCanvasElement) => {
        const { width, height } = element;
        const pixels = element.getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
        return { width, height, pixels: [...pixels] };
      });
      const size = { width: info.width, height: info.height };
      expect({ width: onScreen.width, height: onScreen.height }).toEqual(size);
      const tolerance = name.endsWith('.png') ? 1 : 6;
      // The canvas stores colours multiplied by alpha: only opaque pixels keep them exactly.
      for (const [at, value] of data.entries()) {
        const alpha = data[at - (at % 4) + 3] ?? 0;
        if (at % 4 !== 3 && alpha < 250) continue;
        expect(Math.abs(value - (onScreen.pixels[at] ?? 0))).toBeLessThanOrEqual(tolerance);
      }
      return { name, ...size, metadata: await image.metadata(), corner: [...data.subarray(0, 4)] };
    };
    const check = (name: string, value: string) =>
      page.locator(`[name="${name}"][value="${value}"]`).check({ force: true });

    const whole = await compared(/\s· 40 × 30\s· PNG$/);
    expect(whole).toMatchObject({ name: 'photo-cutout.png', corner: [0, 0, 0, 0] });

    await check('shape', 'subject');
    await page.locator('#shape-margin').fill('0');
    // The subject of 20 × 10, and a pixel of soft edge on each side.
    expect(await compared(/\s· 22 × 12\s· PNG$/)).toMatchObject({ width: 22, height: 12 });
    await check('shape', 'square');
    expect(await compared(/\s· 22 × 22\s· PNG$/)).toMatchObject({ corner: [0, 0, 0, 0] });
    await check('shape', 'portrait');
    await compared(/\s· 22 × 28\s· PNG$/);
    await check('shape', 'passport');
    await compared(/\s· 22 × 28\s· PNG$/);
    await check('shape', 'shop');
    // White, and the subject fills 85 % of a square.
    expect(await compared(/\s· 26 × 26\s· PNG$/)).toMatchObject({ corner: [255, 255, 255, 255] });

    await check('background', 'transparent');
    await check('shape', 'original');
    await page.getByLabel('Soft shadow').check();
    await compared(/\s· 40 × 30\s· PNG$/);
    await page.getByLabel('Mask only').check();
    const mask = await compared(/\s· 40 × 30\s· PNG$/);
    expect(mask).toMatchObject({ corner: [0, 0, 0, 255], metadata: { hasAlpha: false } });
    await page.getByLabel('Mask only').uncheck();

    await check('format', 'webp');
    expect(await compared(/WebP$/)).toMatchObject({
      name: 'photo-cutout.webp',
      metadata: { hasAlpha: true },
    });
    await check('format', 'jpeg');
    await page.getByText('JPEG can’t be transparent').waitFor();
    expect(await compared(/JPEG$/)).toMatchObject({ name: 'photo-cutout.jpg', metadata: { format: 'jpeg' } });

    // The original shows while the button is held, and Space does the same.
    const isOriginal = () => frame.evaluate((element) => element.classList.contains('shows-original'));
    await page.getByRole('button', { name: 'Before' }).hover();
    await page.mouse.down();
    expect(await isOriginal()).toBe(true);
    await page.mouse.up();
    expect(await isOriginal()).toBe(false);
    await page.getByRole('button', { name: '100%' }).click();
    await page.waitForFunction(() => document.querySelector('#image-comparison')?.clientWidth === 40);
  });
});

describe('a problem with an image is explained:', () => {
  const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1');

  it('an unusable file, or several, without an upload and without losing earlier results', async () => {
    const png = await rectangleCutOut();
    const limits = { imageMaxBytes: 15 * 1024 * 1024 };
    const bgRemoval = { status: 'ok', limits };
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
    const files: [name: string, bytes: Buffer, zeros: number, title: string][] = [
      ['letter.pdf', Buffer.from('%PDF-1.7'), 0, 'PDF files can’t be used'],
      ['IMG_0001.HEIC', heic, 0, 'HEIC files can’t be used'],
      ['picture.png', Buffer.from('GIF89a'), 0, 'GIF files can’t be used'],
      ['logo.svg', Buffer.from('<svg xmlns="…"></svg>'), 0, 'SVG files can’t be used'],
      ['film.mp4', Buffer.from('\0\0\0\x18ftypisom', 'latin1'), 0, 'This is a video, not an image'],
      ['empty.jpg', Buffer.alloc(0), 0, 'This file is empty'],
      ['notes.txt', Buffer.from('Buy milk'), 0, 'This isn’t an image this page can read'],
      ['huge.jpg', photo.subarray(0, 64), 17e6, 'This image is too large'],
    ];
    for (const [name, bytes, zeros, title] of files) {
      await drop(page, { name, type: 'image/jpeg', bytes, zeros });
      await problem(page).getByRole('heading', { name: title }).waitFor();
      expect(await problem(page).locator('.problem-detail').textContent()).toContain(name);
      expect(uploads.count).toBe(0);
      await cutOutShown(page);
      expect(await page.getByRole('button', { name: 'Save PNG' }).isEnabled()).toBe(true);
      await problem(page).getByRole('button', { name: 'Close' }).click();
      expect(await problem(page).count()).toBe(0);
    }

    const [text, pdf] = [Buffer.from('Buy milk'), Buffer.from('%PDF-1.7')];
    await drop(page, { name: 'a.txt', type: '', bytes: text }, { name: 'b.pdf', type: '', bytes: pdf });
    await problem(page).getByRole('heading', { name: '2 files can’t be used' }).waitFor();
    expect(await problem(page).locator('.problem-fields li').allInnerTexts()).toEqual([
      expect.stringContaining('a.txt'),
      expect.stringContaining('b.pdf'),
    ]);

    // From a folder, the images are used.
    const folder = mkdtempSync(join(tmpdir(), 'media-services-pictures-'));
    writeFileSync(join(folder, 'inside.jpg'), photo);
    writeFileSync(join(folder, 'notes.txt'), 'Buy milk');
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder, stack.photo], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data });
    await page.locator('#image-strip li[data-state="done"]').nth(2).waitFor();
    expect(uploads.count).toBe(2);
    rmSync(folder, { recursive: true });
    expect(faults).toEqual([]);
  });

  it('a damaged file, then a service that does not respond, then code that can’t be loaded', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await drop(page, { name: 'cut.jpg', type: 'image/jpeg', bytes: photo.subarray(0, 200) });
    await problem(page).getByRole('heading', { name: 'The image can’t be read' }).waitFor();
    expect(faults).toEqual([]);
    await problem(page).getByRole('button', { name: 'Close' }).click();

    await page.route('**/api/remove-background', (route) => route.abort('connectionreset'));
    await chooseImage(page);
    await problem(page).getByRole('heading', { name: 'The connection broke' }).waitFor();
    // Not “0.0 MB”, which a small image once was.
    expect(await problem(page).locator('.problem-detail').textContent()).toMatch(
      /The image \([1-9][\d.]*\s[kM]B\)/,
    );
    // Another server's page, as of a login that has expired.
    await page.unroute('**/api/remove-background');
    await page.route('**/api/remove-background', (route) =>
      route.fulfill({ contentType: 'text/html', body: 'Log in' }),
    );
    await problem(page).getByRole('button', { name: 'Try again' }).click();
    await problem(page).getByRole('heading', { name: 'The server sent a response' }).waitFor();
    await answerImages(page);
    const worker = '**/cut-out-worker.js';
    await page.route(worker, (route) => route.abort());
    await problem(page).getByRole('button', { name: 'Try again' }).click();
    await problem(page).getByRole('heading', { name: 'Can’t reach the server' }).waitFor();
    await page.unroute(worker);
    await problem(page).getByRole('button', { name: 'Try again' }).click();
    await cutOutShown(page);
    expect(await problem(page).count()).toBe(0);
  });
});
