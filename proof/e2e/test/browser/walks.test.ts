import type { Browser } from 'playwright-core';
import {
  answerFileChooser,
  answerImages,
  choice,
  film,
  launchBrowser,
  paste,
  saved,
  visit,
} from '../support/browser.js';
import { stack } from '../support/stack.js';

// What four people come for, with their steps counted: taps, clicks and pastes.
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };

it('a teacher saves a video for class: paste, Enter', async () => {
  await using reader = await visit(browser, '/', { fileAccess: true });
  const { page } = reader;
  await paste(page, film);
  await choice(page, 'video').waitFor();
  await page.keyboard.press('Enter');
  await saved(page, 'video');
});

it('a band saves the sound of its songs: paste, “Sound only”, “Download all”', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await paste(page, [1, 2, 3].map((song) => `${film}?song=${song}`).join('\n'));
  await page.getByRole('button', { name: 'Sound only' }).click();
  await page.getByRole('button', { name: /^Download all/ }).click();
  await page.getByText('3 of 3 saved').waitFor();
});

it('a shop owner makes product pictures: choose, “Shop”, “Save 3”', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await answerImages(page);
  const { photo } = stack;
  await answerFileChooser(page, () => page.locator('#image-drop').click(), [photo, photo, photo]);
  await page.locator('.shape').last().click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save 3' }).click();
  expect((await download).suggestedFilename()).toBe('cutouts.zip');
});

it('a grandparent saves a song on a phone: “Paste link”, the sound, and the button says that it is saved', async () => {
  await using reader = await visit(browser, '/', {
    ...phone,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { page } = reader;
  await page.evaluate((link) => navigator.clipboard.writeText(link), film);
  await page.getByRole('button', { name: 'Paste link' }).tap();
  await choice(page, 'sound').locator('.choice-act').tap();
  await saved(page, 'sound');
  // Without scrolling: the row, and the dock at the bottom.
  const row = await choice(page, 'sound').boundingBox();
  expect((row?.y ?? Infinity) + (row?.height ?? 0)).toBeLessThanOrEqual(phone.viewport.height);
  await page.locator('#dock').getByText('1 saved').waitFor();
});
