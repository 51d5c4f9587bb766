import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { chooseImage, cutOutShown, launchBrowser, visit } from '../support/browser.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const problem = (page: Page) => page.locator('#image-stage').getByRole('alert');
const photo = readFileSync(stack.photo);

/** Lets go of a file over the page, or pastes it. */
async function give(page: Page, kind: 'drop' | 'paste', file: { name: string; type: string; bytes: Buffer }) {
  await page.evaluate(
    ({ how, name, type, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name, { type }));
      const options = { bubbles: true, cancelable: true };
      if (how === 'paste') {
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, ...options }));
        return;
      }
      for (const event of ['dragover', 'drop']) {
        document.body.dispatchEvent(new DragEvent(event, { dataTransfer: data, ...options }));
      }
    },
    { how: kind, name: file.name, type: file.type, base64: file.bytes.toString('base64') },
  );
}

describe('an image', () => {
  it('is cut out, compared and saved under its own name', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await chooseImage(page);
    await cutOutShown(page);
    expect(await page.locator('#image-status').textContent()).toMatch(
      /^Done: 1600 × 1200 · [\d.]+.[kM]B · [\d.]+ s$/,
    );
    expect(await page.locator('#image-quota').textContent()).toBe('4 of 5 images left this minute');

    const started = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download PNG' }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe('photo.png');
    const { channels, width, height } = await sharp(await download.path())
      .stats()
      .then(async (stats) => ({
        ...(await sharp(await download.path()).metadata()),
        channels: stats.channels,
      }));
    expect([width, height]).toEqual([1600, 1200]);
    const [, , , alpha] = channels;
    expect(alpha?.min).toBe(0);
    expect(alpha?.max).toBe(255);
    expect(faults).toEqual([]);
  });

  it.each(['drop', 'paste'] as const)('can be given by %s', async (how) => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.route('**/api/remove-background', () => undefined); // the answer does not matter here
    const sent = page.waitForRequest('**/api/remove-background');
    await give(page, how, { name: 'given.jpg', type: 'image/jpeg', bytes: photo });
    expect((await sent).headers()['content-type']).toMatch(/^multipart\/form-data/);
    await page.getByAltText('The image as it was sent').waitFor();
  });

  it('is cut out again with other parameters, and reset puts the defaults back', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.evaluate(() => {
      window.XMLHttpRequest = class extends XMLHttpRequest {
        override send(body: FormData): void {
          const fields = [...body.entries()].map(([name, value]) =>
            value instanceof File ? `${name}: a file` : `${name}: ${value}`,
          );
          document.body.dataset.sent = fields.join(', ');
          super.send(body);
        }
      };
    });
    await chooseImage(page);
    await cutOutShown(page);
    const update = page.getByRole('button', { name: 'Update' });
    expect(await update.isDisabled()).toBe(true);
    await page.getByLabel('Feather').fill('6.5');
    await page.getByLabel('Strength').fill('1.5');
    expect(await page.locator('output').allTextContents()).toEqual(['12', '6.5 px', '1.50 ×']);
    await update.click();
    expect(await page.evaluate(() => document.body.dataset.sent)).toBe(
      'threshold: 12, feather: 6.5, foreground_strength: 1.5, file: a file',
    );
    await page.getByText('3 of 5 images left this minute').waitFor();
    await cutOutShown(page);
    await page.getByRole('button', { name: 'Reset' }).click();
    expect(await page.locator('output').allTextContents()).toEqual(['12', '2.0 px', '1.00 ×']);
    expect(await update.isEnabled()).toBe(true);
  });

  it('that is being sent or worked on can be given up', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.route('**/api/remove-background', () => undefined); // an answer that never comes
    await chooseImage(page);
    await page
      .getByText(/Uploading…|Removing the background…/)
      .first()
      .waitFor();
    await page.locator('#image-cancel').click();
    await page.getByText('Cancelled.').waitFor();
    expect(await page.getByRole('button', { name: 'Cut out' }).isEnabled()).toBe(true);
  });
});

describe('what goes wrong with an image is said in words', () => {
  it('a file that is no image, without using up the limit', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    let sent = 0;
    page.on('request', (request) => (sent += request.method() === 'POST' ? 1 : 0));
    await give(page, 'drop', { name: 'letter.pdf', type: 'application/pdf', bytes: Buffer.from('%PDF-') });
    await problem(page).getByRole('heading', { name: 'This is not an image' }).waitFor();
    expect(sent).toBe(0);
  });

  it.each([
    ['damaged', Buffer.concat([photo.subarray(0, 200)]), 'image/jpeg', 'The image cannot be read'],
    ['of another type than its name says', Buffer.from('GIF89a'), 'image/png', 'Not a supported image type'],
    [
      'too large',
      Buffer.alloc(17 * 1024 * 1024, 1),
      'image/jpeg',
      /The file is too large|File too large|The connection broke off/,
    ],
  ])('a file that is %s', async (_name, bytes, type, title) => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await give(page, 'drop', { name: 'picture', type, bytes });
    await problem(page).getByRole('heading', { name: title }).waitFor();
    expect(faults).toEqual([]);
    await problem(page).getByRole('button', { name: 'Close' }).click();
    expect(await problem(page).count()).toBe(0);
  });

  it('the limit: a countdown, and none left', async () => {
    await using reader = await visit(browser);
    const { page, client } = reader;
    for (let count = 1; count <= 5; count++) {
      await fetch(`${client.url}/api/remove-background`, { method: 'POST', body: new FormData() });
    }
    await chooseImage(page);
    await problem(page).getByRole('heading', { name: 'Too many requests' }).waitFor();
    expect(await page.locator('#image-quota').textContent()).toBe('0 of 5 images left this minute');
    const retry = problem(page).getByRole('button', { name: /Try again in \d+ s/ });
    expect(await retry.isDisabled()).toBe(true);
    const [first, second] = [await retry.textContent(), await nextText(page, await retry.textContent())];
    const seconds = (text: string | null) => Number(/\d+/.exec(text ?? '')?.[0]);
    expect(seconds(first)).toBeLessThanOrEqual(60);
    expect(seconds(second)).toBeLessThan(seconds(first));
  });

  it('a service that does not answer', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.route('**/api/remove-background', (route) => route.abort('connectionreset'));
    await chooseImage(page);
    await problem(page).getByRole('heading', { name: 'The connection broke off' }).waitFor();
    await page.unroute('**/api/remove-background');
    await problem(page).getByRole('button', { name: 'Try again' }).click();
    await cutOutShown(page);
  });
});

/** The countdown's text once it is another one. */
async function nextText(page: Page, before: string | null): Promise<string | null> {
  await page.waitForFunction(
    (text) => document.querySelector('.problem-retry')?.textContent !== text,
    before,
  );
  return page.locator('.problem-retry').textContent();
}
