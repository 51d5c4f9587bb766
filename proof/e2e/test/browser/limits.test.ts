import type { Browser, Page } from 'playwright-core';
import { atNight } from '../../../vitest/at-night.js';
import { film, launchBrowser, paste, visit } from '../support/browser.js';

// Against the gateway with its default limits: nothing here may need a second click.
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const links = (count: number) => Array.from({ length: count }, (_, index) => `${film}?n=${index}`);
const rows = (page: Page, tone: string) => page.locator(`#links-list > [data-tone="${tone}"]`);

/** Pastes links and saves the sound of all, as soon as the first ones are found. */
async function saveAll(page: Page, count: number): Promise<void> {
  await paste(page, links(count).join('\n'));
  await page.getByRole('button', { name: 'Sound only' }).click();
  await page.getByRole('button', { name: /^Download all/ }).click();
  await rows(page, 'done')
    .nth(count - 1)
    .waitFor();
}

/** Counts the server's refusals from now on. */
function countRefusals(page: Page): { count: number } {
  const refusals = { count: 0 };
  page.on('response', (response) => (refusals.count += response.status() === 429 ? 1 : 0));
  return refusals;
}

it.each([5, ...atNight([10, 20])])(
  '%d links are all saved after one click, without a refusal',
  async (count) => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    const refusals = countRefusals(page);
    const files: string[] = [];
    page.on('download', (download) => files.push(download.suggestedFilename()));
    await saveAll(page, count);
    expect(files).toEqual(Array.from({ length: count }, () => 'A short sample film.mp3'));
    await page.getByText(`${count} of ${count} saved`).waitFor();
    expect(refusals.count).toBe(0);
    expect(faults).toEqual([]);
  },
);

it('so are they in a folder, under different names', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await page.evaluate(() =>
    Object.assign(window, { showDirectoryPicker: () => navigator.storage.getDirectory() }),
  );
  await saveAll(page, 3);
  const names = await page.evaluate(async () => {
    const folder = await navigator.storage.getDirectory();
    const found: string[] = [];
    for await (const name of (folder as unknown as { keys: () => AsyncIterable<string> }).keys())
      found.push(name);
    return found.sort();
  });
  expect(names).toEqual([
    'A short sample film (2).mp3',
    'A short sample film (3).mp3',
    'A short sample film.mp3',
  ]);
});

it('a fifth download at once waits for another one and says so', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  const refusals = countRefusals(page);
  // Slow enough to run until all of them have been clicked.
  await paste(page, Array.from({ length: 5 }, (_, index) => `${film}?rate=500000&n=${index}`).join(' '));
  await rows(page, 'ready').nth(4).waitFor();
  for (let count = 0; count < 5; count++) {
    await page
      .locator('#links-list')
      .getByRole('button', { name: /^Download/ })
      .first()
      .click();
  }
  await page.locator('#links-list').getByText('After one of the other 4').waitFor();
  await rows(page, 'done').nth(4).waitFor();
  expect(refusals.count).toBe(0);
});

it('after a reload the list is there, and the rest is saved', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  page.on('dialog', (dialog) => void dialog.accept());
  await paste(page, links(4).join(' '));
  await page.getByRole('button', { name: 'Sound only' }).click();
  await page.getByRole('button', { name: /^Download all/ }).click();
  await rows(page, 'done').first().waitFor();
  await page.reload();
  await rows(page, 'done').nth(3).waitFor();
});
