import type { Browser, Page } from 'playwright-core';
import sharp, { type OverlayOptions } from 'sharp';
import { cutOutShown, keptForReload, launchBrowser, visit } from '../support/browser.js';
import { healthy, startPageServer } from '../support/page-server.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

interface Size {
  readonly width: number;
  readonly height: number;
}

const red = [220, 40, 40];
const blue = [40, 60, 220];
const clear = [0, 0, 0, 0];

/** The original is red on the left and blue on the right; its cut-out is the red half. */
async function pictures({ width, height }: Size) {
  const half = { width: width / 2, height };
  const channels = 3 as const;
  const right = { create: { ...half, channels, background: { r: 40, g: 60, b: 220 } } };
  const left = { create: { ...half, channels, background: { r: 220, g: 40, b: 40 } } };
  const redHalf = await sharp(left).png().toBuffer();
  const blueHalf = await sharp(right).png().toBuffer();
  const empty = { create: { width, height, channels: 4 as const, background: '#00000000' } };
  const onEmpty = (parts: OverlayOptions[]) => sharp(empty).composite(parts).png().toBuffer();
  return {
    original: await onEmpty([
      { input: redHalf, left: 0, top: 0 },
      { input: blueHalf, left: width / 2, top: 0 },
    ]),
    cutOut: await onEmpty([{ input: redHalf, left: 0, top: 0 }]),
  };
}

/** A page with a finished cut-out without soft edges, and the brush selected. */
async function retouching(size: Size = { width: 400, height: 300 }, options: object = {}) {
  const { original, cutOut } = await pictures(size);
  const server = await startPageServer({
    'api/health': healthy,
    'api/remove-background': (req, res) => {
      req.resume().on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(cutOut));
    },
  });
  const reader = await visit(browser, '/', { url: server.url, ...options });
  const { page } = reader;
  const file = { name: 'two.png', mimeType: 'image/png', buffer: original };
  await page.locator('#image-file').setInputFiles(file);
  await cutOutShown(page);
  await page.getByRole('button', { name: 'Retouch' }).click();
  await page.getByLabel('Hardness').fill('100');
  return {
    page,
    faults: reader.faults,
    /** The screen position of an image pixel. */
    at: async (x: number, y: number): Promise<[number, number]> => {
      const box = await page.locator('#image-comparison').boundingBox();
      if (box === null) throw new Error('The image is not shown.');
      return [box.x + (x / size.width) * box.width, box.y + (y / size.height) * box.height];
    },
    [Symbol.asyncDispose]: async () => {
      await reader[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Work = Awaited<ReturnType<typeof retouching>>;

/** Paints along points of the image. */
async function stroke({ page, at }: Work, ...points: [number, number][]): Promise<void> {
  const [first = [0, 0], ...others] = points;
  await page.mouse.move(...(await at(...first)));
  await page.mouse.down();
  for (const point of others) await page.mouse.move(...(await at(...point)), { steps: 5 });
  await page.mouse.up();
}

async function saved(page: Page) {
  const started = page.waitForEvent('download');
  await page.locator('#image-save').click();
  const image = sharp(await (await started).path());
  const { data, info } = await image.clone().ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return {
    width: info.width,
    height: info.height,
    pixel: (x: number, y: number) => [
      ...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4),
    ],
  };
}

const erase = (page: Page) => page.getByLabel('Erase').check();
const restore = (page: Page) => page.getByLabel('Restore').check();

it('erases and restores what the mouse paints over; undone strokes don’t count', async () => {
  await using work = await retouching();
  const { page, faults } = work;
  await page.getByLabel('Size', { exact: true }).fill('20');
  await erase(page);
  await stroke(work, [50, 150], [150, 150]);
  await restore(page);
  await stroke(work, [250, 150], [350, 150]);
  const painted = await saved(page);
  expect(painted.pixel(100, 150)).toEqual(clear);
  expect(painted.pixel(100, 100)).toEqual([...red, 255]);
  expect(painted.pixel(300, 150)).toEqual([...blue, 255]);
  expect(painted.pixel(300, 100)).toEqual(clear);

  await page.getByRole('button', { name: 'Undo' }).click();
  await page.keyboard.press('Control+z');
  expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
  const undone = await saved(page);
  expect(undone.pixel(100, 150)).toEqual([...red, 255]);
  expect(undone.pixel(300, 150)).toEqual(clear);
  expect(faults).toEqual([]);
});

it('shows painted strokes at once, exactly as they are saved: as PNG, WebP, JPEG on white and a mask', async () => {
  await using work = await retouching();
  const { page, at } = work;
  const alphaShown = () =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.comparison-after');
      return canvas?.getContext('2d')?.getImageData(100, 150, 1, 1).data[3];
    });
  expect(await alphaShown()).toBe(255);
  await page.mouse.move(...(await at(60, 150)));
  await page.mouse.down();
  await page.mouse.move(...(await at(140, 150)), { steps: 4 });
  await page.waitForFunction(
    () =>
      document
        .querySelector<HTMLCanvasElement>('.comparison-after')
        ?.getContext('2d')
        ?.getImageData(100, 150, 1, 1).data[3] === 0,
  );
  await page.mouse.up();
  expect((await saved(page)).pixel(100, 150)).toEqual(clear);

  await page.locator('#brush-done').click();
  const format = (name: string) => page.locator(`[name="format"][value="${name}"]`);
  const expectErased = async (erased: readonly number[]) => {
    const { pixel, width, height } = await saved(page);
    expect([width, height]).toEqual([400, 300]);
    pixel(100, 150).forEach((value, channel) => {
      expect(Math.abs(value - (erased[channel] ?? 0))).toBeLessThanOrEqual(4);
    });
  };
  await format('webp').check({ force: true });
  await expectErased(clear);
  await format('jpeg').check({ force: true });
  await expectErased([255, 255, 255, 255]);
  await format('png').check({ force: true });
  await page.getByLabel('Mask only').check();
  await expectErased([0, 0, 0, 255]);
});

it('paints at the pointer in a zoomed and moved image', async () => {
  const size = { width: 1200, height: 900 };
  await using work = await retouching(size, { viewport: { width: 1000, height: 800 } });
  const { page } = work;
  await page.getByRole('button', { name: '100%' }).click();
  await page.locator('.comparison.is-zoomed').waitFor();
  await page.locator('#image-stage').evaluate((stage) => stage.scrollTo(300, 250));
  await page.getByLabel('Size', { exact: true }).fill('40');
  await page.locator('#image-stage').evaluate((stage) => stage.scrollIntoView());
  await stroke(work, [500, 450], [550, 450]);
  await restore(page);
  await page.locator('#image-stage').evaluate((stage) => stage.scrollIntoView());
  await stroke(work, [700, 450]);
  const { pixel } = await saved(page);
  expect(pixel(525, 450)).toEqual(clear);
  expect(pixel(525, 480)).toEqual([...red, 255]);
  // Here 40 screen pixels equal 40 image pixels.
  expect([pixel(717, 450)[3], pixel(724, 450)[3]]).toEqual([255, 0]);
});

describe('other pointers', () => {
  const touch = { hasTouch: true, viewport: { width: 360, height: 780 } };

  it('a finger paints, and two fingers move the zoomed image instead', async () => {
    await using work = await retouching({ width: 800, height: 600 }, touch);
    const { page, at } = work;
    await page.getByRole('button', { name: '100%' }).click();
    await page.locator('.comparison.is-zoomed').waitFor();
    const stage = page.locator('#image-stage');
    await stage.scrollIntoViewIfNeeded();
    const session = await page.context().newCDPSession(page);
    const touches = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...points: [number, number][]) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: points.map(([x, y], id) => ({ x, y, id })),
      });
    const [x, y] = await at(100, 150);
    await touches('touchStart', [x, y]);
    await touches('touchMove', [x + 60, y]);
    await touches('touchEnd');

    await touches('touchStart', [x, y + 30]);
    await touches('touchStart', [x, y + 30], [x + 80, y + 30]);
    for (const step of [20, 40, 60]) await touches('touchMove', [x - step, y + 30], [x + 80 - step, y + 30]);
    await touches('touchEnd');
    expect(await stage.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(30);

    const { pixel } = await saved(page);
    expect(pixel(130, 150)).toEqual(clear);
    // Two fingers painted nothing.
    expect(pixel(100, 205)).toEqual([...red, 255]);
  });

  it('a pen paints wider the harder it is pressed', async () => {
    await using work = await retouching();
    const { page, at } = work;
    await page.getByLabel('Size', { exact: true }).fill('60');
    const session = await page.context().newCDPSession(page);
    const press = async (x: number, force: number) => {
      const [left, top] = await at(x, 150);
      const event = { x: left, y: top, button: 'left', clickCount: 1, pointerType: 'pen', force } as const;
      await session.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...event });
      await session.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...event });
    };
    await press(50, 0.1);
    await press(150, 1);
    const { pixel } = await saved(page);
    const erasedBelow = (x: number) => {
      let rows = 0;
      while (pixel(x, 150 + rows)[3] === 0) rows++;
      return rows;
    };
    expect(erasedBelow(50)).toBeGreaterThan(3);
    expect(erasedBelow(150)).toBeGreaterThan(erasedBelow(50) * 2);
  });

  it('the keyboard moves the brush and paints', async () => {
    await using work = await retouching();
    const { page, faults } = work;
    await page.getByRole('application', { name: 'Brush' }).focus();
    // From the middle to the left, into the red half.
    for (let count = 0; count < 5; count++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.down('Space');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.up('Space');
    await page.getByRole('button', { name: 'Undo' }).and(page.locator(':enabled')).waitFor();
    const { pixel } = await saved(page);
    const erased = Array.from({ length: 200 }, (_, x) => pixel(x, 150)[3] === 0).filter(Boolean).length;
    expect(erased).toBeGreaterThan(20);
    expect(pixel(10, 150)).toEqual([...red, 255]);

    // After the last undo, the button is disabled; the keys still paint.
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByRole('button', { name: 'Undo' }).and(page.locator(':disabled')).waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Undo' }).and(page.locator(':enabled')).waitFor();
    expect(faults).toEqual([]);
  });
});

it('is included in the crop and the shadow, and survives a reload', async () => {
  await using work = await retouching();
  const { page } = work;
  await page.getByLabel('Size', { exact: true }).fill('20');
  await restore(page);
  await stroke(work, [300, 150]);
  await keptForReload(page, 'results');
  await keptForReload(page, 'strokes');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await cutOutShown(page);
  await page.locator('[name="shape"][value="subject"]').check({ force: true });
  await page.locator('#shape-margin').fill('0');
  await page.getByLabel('Soft shadow').check();
  const { width, height, pixel } = await saved(page);
  // The red half, and what was restored right of it.
  expect(width).toBeGreaterThan(300);
  expect(width).toBeLessThan(325);
  expect(height).toBe(300);
  expect(pixel(299, 150).slice(0, 3)).toEqual(blue);
});
