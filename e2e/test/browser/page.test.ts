import type { Browser, Page } from 'playwright-core';
import {
  accessibilityProblems,
  chooseImage,
  cutOutShown,
  film,
  launchBrowser,
  layoutShift,
  lookUp,
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

const pages = ['/', '/docs/', '/docs/?service=bg-removal', '/docs/errors', '/docs/examples'];
const phone = { viewport: { width: 360, height: 780 } };

async function useBothTools(page: Page): Promise<void> {
  await lookUp(page, film);
  await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
  await chooseImage(page);
  await cutOutShown(page);
}

it('loads nothing from outside, runs nothing inline, and weighs less than 100 kB', async () => {
  await using reader = await visit(browser);
  const { page, client, outside, faults } = reader;
  await page.getByText('Both tools are ready').waitFor();
  const policy = (await fetch(client.url)).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|script-src[^;]*(http|data|\*)/);
  const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  const files = [`${client.url}/`, ...new Set(loaded)].filter((name) => !name.includes('/api/'));
  expect(files.length).toBeGreaterThan(15);
  const sizes = await Promise.all(
    files.map(async (file) => (await (await fetch(file)).arrayBuffer()).byteLength),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(100_000);
  expect(outside).toEqual([]);
  expect(faults).toEqual([]);
});

it.each(pages)('%s keeps to its own origin and policy, and fits a narrow phone', async (path) => {
  await using reader = await visit(browser, path, phone);
  const { page, outside, faults } = reader;
  if (path === '/' || path.startsWith('/docs/?') || path === '/docs/') {
    await page.locator('.opblock, [data-status="ok"]').first().waitFor();
  }
  expect(outside).toEqual([]);
  expect(faults).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
});

describe('accessible, in light and dark,', () => {
  async function expectAccessible(page: Page, exclude: readonly string[] = []): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(page, exclude)).toEqual([]);
    }
  }

  it('before anything is done', async () => {
    await using reader = await visit(browser);
    await reader.page.getByText('Both tools are ready').waitFor();
    await expectAccessible(reader.page);
  });

  it('with both problems, on a phone', async () => {
    await using reader = await visit(browser, '/', phone);
    const { page } = reader;
    await page.route('**/api/remove-background', (route) => route.abort('connectionreset'));
    await lookUp(page, `${stack.pages}/only-words`);
    await chooseImage(page);
    await page.locator('.problem').nth(1).waitFor();
    await expectAccessible(page);
  });

  it('with both results, which come without a shift of the layout, and a comparison that follows the pointer', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.getByText('Both tools are ready').waitFor();
    await useBothTools(page);
    expect(await layoutShift(page)).toBeLessThan(0.02);
    await expectAccessible(page);

    const box = await page.locator('#image-comparison').boundingBox();
    if (box === null) throw new Error('The comparison is not shown.');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.25, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(Number(await page.locator('.comparison-range').inputValue())).toBeCloseTo(25, -1);
  });

  it.each(['/docs/', '/docs/errors#geo-blocked', '/docs/examples'])('%s', async (path) => {
    await using reader = await visit(browser, path);
    await reader.page.waitForLoadState('networkidle');
    // What is inside #api is the documentation package's own.
    await expectAccessible(reader.page, path === '/docs/' ? ['#api'] : []);
  });
});

it('does both main jobs by keyboard alone', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  const { keyboard } = page;
  const focusOn = async (selector: string): Promise<void> => {
    for (let step = 0; step < 40; step++) {
      await keyboard.press('Tab');
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
    }
    throw new Error(`Tab does not lead to ${selector}.`);
  };

  await focusOn('.skip-link');
  await keyboard.press('Enter');
  await focusOn('#video-url');
  await keyboard.type(film);
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
  await focusOn('[data-target="mp3"] a');
  const download = page.waitForEvent('download');
  await keyboard.press('Enter');
  expect((await download).suggestedFilename()).toBe('A short sample film.mp3');
  await (await download).cancel();

  await focusOn('#image-file');
  const chooser = page.waitForEvent('filechooser');
  await keyboard.press('Space');
  await (await chooser).setFiles(stack.photo);
  await cutOutShown(page);
  await page.locator('#image-file').focus();
  await focusOn('.comparison-range');
  const range = page.locator('.comparison-range');
  const before = Number(await range.inputValue());
  await keyboard.press('ArrowLeft');
  await keyboard.press('ArrowLeft');
  expect(Number(await range.inputValue())).toBeLessThan(before);
  await focusOn('#image-download');
});

it('leads from an error to its explanation', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await lookUp(page, `${stack.pages}/only-words`);
  await page.getByRole('link', { name: 'What this means' }).click();
  await page.waitForURL('**/docs/errors#unsupported-url');
  expect(await page.locator('#unsupported-url').isVisible()).toBe(true);
});

it('tells when the services are not well', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await page.route('**/api/health', (route) =>
    route.fulfill({
      status: 503,
      json: {
        status: 'error',
        services: { 'video-dl': { status: 'ok' }, 'bg-removal': { status: 'starting' } },
      },
    }),
  );
  await page.reload();
  await page.getByText('Video: ready · images: starting').waitFor();
});
