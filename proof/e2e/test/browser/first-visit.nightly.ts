import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import {
  choice,
  saved,
  answerFileChooser,
  answerImages,
  cutOutShown,
  film,
  launchBrowser,
  paste,
  visit,
} from '../support/browser.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const phone = { viewport: { width: 360, height: 780 } };

describe('a first visit on a phone, in a few touches', () => {
  const touchPhone = { ...phone, hasTouch: true };

  /** Counts touches. */
  function touches() {
    let count = 0;
    return {
      tap: async (target: Locator) => {
        count++;
        await target.tap();
      },
      get count() {
        return count;
      },
    };
  }

  it('from a link in the clipboard to a saved video', async () => {
    await using reader = await visit(browser, '/', { ...touchPhone, fileAccess: true });
    const { page } = reader;
    const finger = touches();
    // Into the field, “Paste” of the phone's own menu, and “Download”.
    await finger.tap(page.locator('#video-url'));
    const pasting = touches();
    await pasting.tap(page.locator('#video-url'));
    await page.locator('#video-url').evaluate((field, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, film);
    await finger.tap(choice(page, 'video').locator('.choice-act'));
    await saved(page, 'video');
    expect(finger.count + pasting.count).toBeLessThanOrEqual(3);
  });

  it('from a photo to a saved cut-out', async () => {
    await using reader = await visit(browser, '/', touchPhone);
    const { page } = reader;
    const finger = touches();
    await answerImages(page);
    // “Choose pictures”, the photo in the phone's own dialog, and “Save”.
    // “Picture”, because a phone shows one tool.
    await finger.tap(page.locator('#tools a').last());
    await answerFileChooser(page, () => finger.tap(page.locator('#image-drop')), stack.photo);
    const choosing = 1;
    await cutOutShown(page);
    const download = page.waitForEvent('download');
    await finger.tap(page.locator('#image-save'));
    expect((await download).suggestedFilename()).toBe('photo-cutout.png');
    expect(finger.count + choosing).toBeLessThanOrEqual(4);
  });
});

it('without JavaScript, the form saves the video, and the sites are named', async () => {
  await using reader = await visit(browser, '/', { ...phone, javaScriptEnabled: false });
  const { page } = reader;
  await page.getByText('YouTube, Vimeo, TikTok').waitFor();
  await page.locator('#video-url').fill(film);
  const download = page.waitForEvent('download');
  await page.locator('#video-url').press('Enter');
  expect((await download).suggestedFilename()).toBe('A short sample film.mp4');
});

it('a look-up is shown again after a reload, without a request', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await paste(page, film);
  await choice(page, 'video').waitFor();
  const lookUps: string[] = [];
  page.on('request', (request) => lookUps.push(...(request.url().match(/api\/info/) ?? [])));
  await page.reload();
  await choice(page, 'video').waitFor();
  expect(lookUps).toEqual([]);
});

describe('a first visit on a phone, by keyboard alone, in at most six key presses', () => {
  /** Counts key presses and reports the focused element. */
  function keys(page: Page) {
    let pressed = 0;
    return {
      press: async (key: string) => {
        pressed++;
        await page.keyboard.press(key);
      },
      get pressed() {
        return pressed;
      },
    };
  }

  it('a video: paste, Enter', async () => {
    await using reader = await visit(browser, '/', { ...phone, fileAccess: true });
    const { page } = reader;
    const keyboard = keys(page);
    await paste(page, film);
    await choice(page, 'video').waitFor();
    await keyboard.press('Enter');
    await saved(page, 'video');
    expect(keyboard.pressed + 1).toBeLessThanOrEqual(6);
  });

  it('a video, typed: to the field, Enter, Enter', async () => {
    await using reader = await visit(browser, '/', phone);
    const { page } = reader;
    const keyboard = keys(page);
    await keyboard.press('Tab');
    await keyboard.press('Enter'); // the link that skips the header
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('video-url');
    await page.keyboard.insertText(film);
    await keyboard.press('Enter');
    await choice(page, 'video').waitFor();
    const download = page.waitForEvent('download');
    await keyboard.press('Enter');
    expect((await download).suggestedFilename()).toBe('A short sample film.mp4');
    expect(keyboard.pressed + 1).toBeLessThanOrEqual(6);
  });

  it('an image: paste, Enter', async () => {
    await using reader = await visit(browser, '/', phone);
    const { page } = reader;
    const keyboard = keys(page);
    await answerImages(page);
    await paste(page, { name: 'photo.jpg', type: 'image/jpeg', bytes: readFileSync(stack.photo) });
    await cutOutShown(page);
    const download = page.waitForEvent('download');
    await keyboard.press('Enter');
    expect((await download).suggestedFilename()).toBe('photo-cutout.png');
    expect(keyboard.pressed + 1).toBeLessThanOrEqual(6);
  });
});

it('everything can be reached by keyboard: sliders, backgrounds, shapes', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  const focusOn = async (selector: string): Promise<void> => {
    for (let step = 0; step < 40; step++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
    }
    throw new Error(`Tab does not lead to ${selector}.`);
  };
  await answerImages(page);
  await focusOn('#image-file');
  await answerFileChooser(page, () => page.keyboard.press('Space'), stack.photo);
  await cutOutShown(page);
  await page.locator('#image-file').focus();
  await focusOn('#image-original');
  await focusOn('input[name="background"]');
  await page.keyboard.press('ArrowRight');
  expect(await page.getByLabel('White').isChecked()).toBe(true);
  await focusOn('[name="shape"]');
  await page.keyboard.press('ArrowRight');
  expect(await page.getByLabel('Subject').isChecked()).toBe(true);
  await focusOn('#tune-feather');
  await page.keyboard.press('ArrowRight');
  expect(await page.locator('output:has(+ #tune-feather)').textContent()).toBe('2.5 px');
  await focusOn('#image-save');
});
