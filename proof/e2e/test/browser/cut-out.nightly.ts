import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import {
  answerFileChooser,
  answerImages,
  chooseImage,
  cutOutShown,
  launchBrowser,
  visit,
} from '../support/browser.js';
import { newClient } from '../support/client.js';
import { imageForm } from '../support/form.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

interface Pixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

async function pixelsOf(file: string | Buffer): Promise<Pixels> {
  const { data, info } = await sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

async function save(page: Page): Promise<Buffer> {
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save PNG' }).click();
  return readFileSync(await (await started).path());
}

async function openAdjusted(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  await chooseImage(page);
  await cutOutShown(page);
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label).fill(value);
}

/** The service's cut-out when it tunes the matte itself. */
async function fromService(fields: Readonly<Record<string, string>>): Promise<Buffer> {
  await using client = await newClient();
  const body = await imageForm(fields);
  const answer = await fetch(`${client.url}/api/remove-background`, { method: 'POST', body });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

/**
 * The largest differences of alpha, and of colours that the untuned cut-out has; the mean
 * visible difference of the others.
 */
function differences(page: Pixels, service: Pixels, untuned: Pixels) {
  let [alpha, colour, fringe, fringeSize] = [0, 0, 0, 0];
  for (let at = 0; at < page.data.length; at += 4) {
    const opacity = (service.data[at + 3] ?? 0) / 255;
    alpha = Math.max(alpha, Math.abs((page.data[at + 3] ?? 0) - (service.data[at + 3] ?? 0)));
    if (opacity === 0) continue;
    for (let channel = at; channel < at + 3; channel++) {
      const difference = Math.abs((page.data[channel] ?? 0) - (service.data[channel] ?? 0));
      if (untuned.data[at + 3] !== 0) colour = Math.max(colour, difference);
      else {
        fringe += difference * opacity;
        fringeSize++;
      }
    }
  }
  return { alpha, colour, fringe: fringe / Math.max(1, fringeSize) };
}

describe('the page tunes a cut-out like the service', () => {
  const neutral = { threshold: '0', feather: '0', foreground_strength: '1' };
  let untuned: Buffer;
  beforeAll(async () => {
    untuned = await fromService(neutral);
  });

  it.each<[name: string, sliders: Readonly<Record<string, string>>]>([
    ['wide and weak', { Threshold: '5', Feather: '24', Strength: '0.5' }],
    ['with the defaults', {}],
    ['hard and strong', { Threshold: '60', Feather: '0', Strength: '2' }],
  ])('%s', async (_name, sliders) => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await answerImages(page, untuned);
    await openAdjusted(page, sliders);
    const made = await pixelsOf(await save(page));
    const service = await pixelsOf(
      await fromService({
        threshold: sliders.Threshold ?? '12',
        feather: sliders.Feather ?? '2',
        foreground_strength: sliders.Strength ?? '1',
      }),
    );
    expect([made.width, made.height]).toEqual([service.width, service.height]);
    const { alpha, colour, fringe } = differences(made, service, await pixelsOf(untuned));
    expect(alpha).toBeLessThanOrEqual(1);
    expect(colour).toBeLessThanOrEqual(1);
    // Outside the subject, the service extends its estimate and the page the nearest colours.
    expect(fringe).toBeLessThanOrEqual(4);
    expect(faults).toEqual([]);
  });
});

describe('an image that is already partly transparent', () => {
  it.each([
    ['a finished cut-out', 'dest-in'],
    ['a photograph with a hole', 'dest-out'],
  ] as const)('%s is saved as the service returns it', async (_name, blend) => {
    const hole = Buffer.from('<svg width="1200" height="800"><circle cx="600" cy="400" r="250"/></svg>');
    const { width, height } = await sharp(stack.photo).metadata();
    const mask = await sharp(hole).resize(width, height).png().toBuffer();
    const buffer = await sharp(stack.photo)
      .ensureAlpha()
      .composite([{ input: mask, blend }])
      .png()
      .toBuffer();
    await using reader = await visit(browser);
    const { page, client } = reader;
    await page.locator('#image-file').setInputFiles({ name: 'own.png', mimeType: 'image/png', buffer });
    await cutOutShown(page);
    const made = await pixelsOf(await save(page));
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(buffer)]), 'own.png');
    const answer = await fetch(`${client.url}/api/remove-background`, { method: 'POST', body });
    const service = await pixelsOf(Buffer.from(await answer.arrayBuffer()));
    expect(made.data.equals(service.data)).toBe(true);
    // A value that differs from its default is applied.
    await page.getByLabel('Feather').fill('12');
    const soft = await pixelsOf(await save(page));
    expect(soft.data.equals(service.data)).toBe(false);
  });
});

it('sliders change the image at once, without a request', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await answerImages(page);
  await openAdjusted(page, {});
  let requests = 0;
  page.on('request', (request) => {
    if (/\/api\/(?!health)/.test(request.url())) requests++;
  });
  const shown = () =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.comparison-after');
      return canvas?.toDataURL() ?? '';
    });
  const before = await shown();
  await page.getByLabel('Feather').fill('24');
  await page.waitForFunction(
    (old) => document.querySelector<HTMLCanvasElement>('.comparison-after')?.toDataURL() !== old,
    before,
  );
  expect(await page.locator('#image-tuning output').allTextContents()).toEqual(['12', '24.0 px', '1.00 ×']);
  const feathered = await shown();
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.waitForFunction(
    (old) => document.querySelector<HTMLCanvasElement>('.comparison-after')?.toDataURL() !== old,
    feathered,
  );
  expect(await page.locator('#image-tuning output').allTextContents()).toEqual(['12', '2.0 px', '1.00 ×']);
  expect(requests).toBe(0);
});

describe('a cut-out', () => {
  it('is saved on a colour, on an image and transparent, and can be copied to the clipboard', async () => {
    await using reader = await visit(browser, '/', { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page, faults } = reader;
    await answerImages(page);
    await chooseImage(page);
    await cutOutShown(page);
    const corner = ({ data }: Pixels) => [...data.subarray(0, 4)];

    await page.getByLabel('Another colour').check({ force: true });
    await page.getByLabel('Background colour').fill('#336699');
    const onColour = await save(page);
    expect((await sharp(onColour).metadata()).channels).toBe(3);
    expect(corner(await pixelsOf(onColour))).toEqual([0x33, 0x66, 0x99, 255]);

    const picture = { create: { width: 50, height: 20, channels: 3 as const, background: '#20c040' } };
    const ownPicture = page.getByLabel('Your own image', { exact: true });
    await answerFileChooser(page, () => ownPicture.click({ force: true }), {
      name: 'meadow.png',
      mimeType: 'image/png',
      buffer: await sharp(picture).png().toBuffer(),
    });
    expect(corner(await pixelsOf(await save(page)))).toEqual([0x20, 0xc0, 0x40, 255]);

    await page.getByLabel('Transparent').check({ force: true });
    expect(corner(await pixelsOf(await save(page)))).toEqual([0, 0, 0, 0]);

    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied. You can paste it now.').waitFor();
    const size = await page.evaluate(async () => {
      const [item] = await navigator.clipboard.read();
      const blob = await item?.getType('image/png');
      const bitmap = blob && (await createImageBitmap(blob));
      return [bitmap?.width, bitmap?.height];
    });
    expect(size).toEqual([400, 300]);

    await page.evaluate(() => {
      navigator.clipboard.write = () => Promise.reject(new DOMException('Denied.', 'NotAllowedError'));
    });
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('heading', { name: 'The image couldn’t be copied' }).waitFor();
    expect(faults).toEqual([]);
  });
});
