import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { atNight, isNight } from '../../../vitest/at-night.js';
import {
  accessibilityProblems,
  answerImages,
  chooseImage,
  cutOutShown,
  drop,
  film,
  launchBrowser,
  layoutShift,
  lookUp,
  visit,
} from '../support/browser.js';
import { healthy, infoWith, sendJson, startPageServer } from '../support/page-server.js';
import { root, stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const pages = ['/', '/docs/', ...atNight(['/docs/errors', '/docs/examples'])];
const phone = { viewport: { width: 360, height: 780 } };

async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await accessibilityProblems(page)).toEqual([]);
  // The other scheme differs only in its colours.
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await accessibilityProblems(page, 'colours')).toEqual([]);
}

async function useBothTools(page: Page): Promise<void> {
  await lookUp(page, film);
  await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
  await answerImages(page);
  await chooseImage(page);
  await cutOutShown(page);
}

describe('the code of the page', () => {
  const folder = join(root, 'nginx/html');
  const scripts = readdirSync(join(folder, 'js'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js') && !name.startsWith('docs/'))
    .map((name) => `js/${name}`);
  const isLater = (name: string) => name.includes('/worker/');
  const tables = readdirSync(join(folder, 'texts')).map((name) => `texts/${name}`);
  const styles = ['base', 'page', 'video', 'image'].map((name) => `css/${name}.css`);

  it('loads nothing external, runs nothing inline, and loads the image worker later', async () => {
    await using reader = await visit(browser);
    const { page, client, outside, faults } = reader;
    await page.getByText('Both tools are ready').waitFor();
    const policy = (await fetch(client.url)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|script-src[^;]*(http|data|\*)/);
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => name),
    );
    const expected = [...scripts.filter((name) => !isLater(name)), ...styles, 'texts/en.json'];
    const opened = loaded
      .filter((name) => /\.(?:js|css|json)$/.test(name))
      .map((name) => name.slice(client.url.length + 1));
    expect([...new Set(opened)].sort()).toEqual(expected.sort());
    expect(outside).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('is below 130 kB as sent, with its texts', async () => {
    const sizeOf = (name: string) => statSync(join(folder, name)).size;
    const [largestTable = ''] = tables.sort((left, right) => sizeOf(right) - sizeOf(left));
    const code = [...scripts.filter((name) => !isLater(name)), ...styles];
    let sent = 0;
    for (const name of ['', ...code, largestTable, 'texts/en.json'])
      sent += await bytesSent(`${stack.gateway}/${name}`);
    expect(sent).toBeGreaterThan(50_000);
    expect(sent).toBeLessThan(130_000);
  });
});

/** The size of a body after the gateway's compression. */
async function bytesSent(url: string): Promise<number> {
  const request = get(url, { headers: { 'Accept-Encoding': 'gzip' } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
  expect(response.statusCode).toBe(200);
  return bytes;
}

/** Elements that exceed the screen, except for scrolling ones. */
const beyond = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('body *')]
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect();
        return (
          width > 1 &&
          (right > 361 || left < -1) &&
          element.closest('.film-strip, .stage, .program, .shapes, .tabs, .scene') === null
        );
      })
      .map(({ outerHTML }) => outerHTML.slice(0, 100)),
  );
const oneEndpoint = '#removeBackground';
const unfold = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) => all.forEach((each) => each.setAttribute('open', '')));
const enlarge = (page: Page, percent: number) =>
  page.evaluate((size) => (document.documentElement.style.fontSize = `${size}%`), percent);
const expectNothingBeyond = async (page: Page) => {
  for (const percent of [150, 200]) {
    await enlarge(page, percent);
    expect({ percent, beyond: await beyond(page) }).toEqual({ percent, beyond: [] });
  }
};

it.each(pages)(
  '%s keeps to its own origin and policy, fits a narrow phone also with larger text, and is accessible',
  async (path) => {
    await using reader = await visit(browser, path, phone);
    const { page, outside, faults } = reader;
    if (path === '/') await page.locator('[data-status="ok"]').waitFor();
    expect(outside).toEqual([]);
    expect(faults).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    // By day axe sees one endpoint of the reference unfolded: all have the same parts, and it takes seconds.
    await unfold(page, path === '/docs/' && !isNight ? `${oneEndpoint}, ${oneEndpoint} details` : 'details');
    if (path !== '/') await expectAccessible(page);
    await unfold(page, 'details');
    await expectNothingBeyond(page);
    const statuses = page.locator('.answer > summary code');
    for (const status of (await statuses.all()).slice(0, 3)) {
      const lines = await status.evaluate((element) => element.getClientRects().length);
      const { height = 0 } = (await status.boundingBox()) ?? {};
      expect(lines).toBe(1);
      expect(height).toBeLessThan(64);
    }
  },
);

describe('with text of 150 and 200 % on a narrow phone', () => {
  it('an image keeps a useful size', async () => {
    await using reader = await visit(browser, '/', { ...phone, locale: 'de' });
    const { page } = reader;
    await answerImages(page);
    await page.locator('#tools a').last().click();
    await page.locator('#image-sample').click();
    await cutOutShown(page);
    await enlarge(page, 200);
    const widthOf = async (selector: string) => (await page.locator(selector).boundingBox())?.width ?? 0;
    expect(await widthOf('#image-comparison')).toBeGreaterThan(150);
  });

  it('a file’s name breaks before its extension, not before the quote', async () => {
    await using reader = await visit(browser, '/', phone);
    const { page } = reader;
    const bytes = Buffer.from('\0\0\0\x18ftypheic', 'latin1');
    await drop(page, { name: 'IMG_0001.HEIC', type: 'image/heic', bytes });
    await page.locator('.problem').waitFor();
    const lines = await page.locator('.problem-detail').evaluate((detail: HTMLElement) => {
      // Without room, every place where a line may break does break it, whatever the font.
      detail.style.cssText = 'width: 0; overflow-wrap: normal';
      const tops = new Map<number, string>();
      for (const node of detail.childNodes) {
        for (const [index, letter] of (node.textContent ?? '').split('').entries()) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + 1);
          const top = Math.round(range.getBoundingClientRect().top);
          tops.set(top, (tops.get(top) ?? '') + letter);
        }
      }
      return [...tops.values()];
    });
    expect(lines.map((line) => line.trim()).slice(0, 3)).toEqual(['“IMG_', '0001', '.HEIC”:']);
  });

  /** Right to left; at night also the longest texts. */
  const locales = ['ar', ...atNight(['de', 'en'])];
  it.each(locales)('both tools fit with results and problems, in %s', async (locale) => {
    const film = { video: 'copy', audio: 'copy', formatIds: [], estimatedBytes: 48e6 };
    let refused = false;
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': (req, res) => {
        if (refused) sendJson(res, { title: 'T', detail: 'D', code: 'bot_check', retryable: true }, 503);
        else {
          const download = { ...film, target: 'mp4-1080', href: 'api/stream/video', height: 1080 };
          const title = 'A long title that tells what happens on the way from the ferry to the market';
          const items = [1, 2].map((index) => ({ index, title }));
          infoWith([download], [], { title, items, playlistIndex: 1, playlistCount: 2 })(req, res);
        }
      },
      'api/remove-background': (req, res) => {
        const file = readFileSync(join(root, 'nginx/html/icons/icon-192.png'));
        req.resume().on('end', () => res.writeHead(200, { 'Content-Type': 'image/png' }).end(file));
      },
    });
    await using reader = await visit(browser, '/', { ...phone, url: server.url, locale });
    const { page } = reader;
    await page.locator('#video-url').fill('https://example.com/film');
    await page.keyboard.press('Enter');
    await page.locator('.row').first().waitFor();
    await expectNothingBeyond(page);
    await page.locator('#image-file').setInputFiles(join(root, 'nginx/html/icons/icon-192.png'));
    await cutOutShown(page);
    for (const tab of await page.locator('#image-tabs button').all()) {
      await tab.click();
      await expectNothingBeyond(page);
    }
    await page.locator('#image-retouch').click();
    await expectNothingBeyond(page);
    await page.locator('#tools a').first().click();
    await page.locator('#video-url').fill('https://example.com/1');
    await page.keyboard.press('Enter');
    await page.locator('.row-title').first().click();
    await page.locator('.choice').first().waitFor();
    await page.locator('#video-others summary').click();
    await expectNothingBeyond(page);
    refused = true;
    await page.locator('#video-url').fill('https://example.com/film');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await expectNothingBeyond(page);
  });
});

describe('accessible, in light and dark,', () => {
  it('with both problems on a phone, one of which links to its explanation in a new tab', async () => {
    await using reader = await visit(browser, '/', phone);
    const { page } = reader;
    await drop(page, { name: 'letter.pdf', type: '', bytes: Buffer.from('%PDF-1.7') });
    await page.locator('.problem').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Video', exact: true }).click();
    await lookUp(page, `${stack.pages}/only-words`);
    await page.locator('#video-problem .problem').waitFor();
    await expectAccessible(page);

    const problem = page.locator('#video-problem');
    await problem.getByText('Details').click();
    const opened = page.waitForEvent('popup');
    await problem.getByRole('link', { name: 'What this means' }).click();
    // In a new tab, because going back would lose finished work.
    const explanation = await opened;
    await explanation.waitForURL('**/docs/errors#unsupported-url');
    await explanation.locator('#unsupported-url').waitFor();
  });

  it('before anything is done, and with both results, which shift nothing', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await page.getByText('Both tools are ready').waitFor();
    await expectAccessible(page);
    await lookUp(page, film);
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    expect(await layoutShift(page)).toBeLessThan(0.05);
    await expectAccessible(page);
    await answerImages(page);
    await chooseImage(page);
    await cutOutShown(page);
    await expectAccessible(page);
  });
});

it('both tools are one tap away on a phone, and Back leads through what was open', async () => {
  await using reader = await visit(browser, '/', phone);
  const { page } = reader;
  const isOnScreen = async (name: string) => {
    const box = await page.locator(name).boundingBox();
    return (box?.y ?? Infinity) + (box?.height ?? 0) <= phone.viewport.height;
  };
  expect(await isOnScreen('#video-submit')).toBe(true);
  await page.getByRole('link', { name: 'Picture', exact: true }).click();
  expect(await isOnScreen('#image-drop')).toBe(true);
  await page.goBack();
  await useBothTools(page);
  await page.getByRole('link', { name: 'Video', exact: true }).click();
  expect(await isOnScreen('#video-title')).toBe(true);
  await page.goBack();
  expect(await isOnScreen('#image-save')).toBe(true);
  await page.goBack();
  await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Save a video', exact: true }).waitFor();
});

it('a disabled button looks disabled, even under the pointer', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await page.route('**/api/remove-background', () => undefined); // an answer that never comes
  await chooseImage(page);
  const button = page.getByRole('button', { name: 'Save PNG' });
  await button.waitFor();
  const look = () =>
    button.evaluate((element) => {
      const { backgroundColor, borderColor, color, cursor } = getComputedStyle(element);
      return { backgroundColor, borderColor, color, cursor };
    });
  const before = await look();
  await button.hover({ force: true });
  expect(await look()).toEqual(before);
  expect(before.cursor).toBe('not-allowed');
});

it('with the system’s forced colours, chosen tools and backgrounds still show', async () => {
  await using reader = await visit(browser, '/', { forcedColors: 'active' });
  const { page } = reader;
  await answerImages(page);
  await page.locator('#image-sample').click();
  await cutOutShown(page);
  const style = (selector: string, property: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
  const white = page.locator('[value="#ffffff"]');
  await white.check({ force: true });
  expect(await style('.swatch-face.white', 'background-color')).toBe('rgb(255, 255, 255)');
  expect(await style('.swatch-face.black', 'background-color')).toBe('rgb(0, 0, 0)');
  expect(await style('.comparison', 'background-image')).toContain('gradient');
  expect(await style('.swatch-face.white', 'outline-style')).toBe('solid');
  expect(await style('.swatch-face.black', 'outline-style')).toBe('none');
  const idle = await style('#image-retouch', 'background-color');
  await page.locator('#image-retouch').click();
  expect(await style('#image-retouch', 'background-color')).not.toBe(idle);
  const modes = page.getByRole('group', { name: 'Retouch' }).locator('label');
  const colours = await modes.evaluateAll((labels) =>
    labels.map((label) => getComputedStyle(label).backgroundColor),
  );
  expect(new Set(colours).size).toBe(2);
});

it('in light and in dark mode, dark and bright subjects stand out from the checkerboard', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const brightness = await page.evaluate(() =>
      ['--check-a', '--check-b'].map((name) => {
        const probe = document.createElement('i');
        probe.style.color = `var(${name})`;
        document.body.append(probe);
        const [red = 0, green = 0, blue = 0] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? [];
        return (red + green + blue) / 3;
      }),
    );
    // Far from black in both; in the dark, far from white too.
    for (const value of brightness) expect(value).toBeGreaterThan(128);
    if (colorScheme === 'dark') for (const value of brightness) expect(value).toBeLessThan(200);
  }
});

it('loads again if a part of its code did not arrive', async () => {
  let requests = 0;
  await using server = await startPageServer({
    'api/health': healthy,
    'js/main.js': (_req, res) => {
      requests++;
      if (requests === 1) res.writeHead(503).end();
      else
        res
          .setHeader('Content-Type', 'text/javascript')
          .end(readFileSync(join(root, 'nginx/html/js/main.js')));
    },
  });
  await using reader = await visit(browser, '/', { url: server.url });
  await reader.page.getByText('Both tools are ready').waitFor();
  expect(requests).toBe(2);
});

it('shows which service is not ready or that the server can’t be reached, and soon checks again', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  const services = { 'video-dl': { status: 'ok' }, 'bg-removal': { status: 'starting' } };
  let state: 'starting' | 'unreachable' | 'ready' = 'starting';
  await page.route('**/api/health', async (route) => {
    if (state === 'starting') await route.fulfill({ status: 503, json: { status: 'error', services } });
    else if (state === 'unreachable') await route.abort('connectionreset');
    else await route.continue();
  });
  await page.clock.install();
  await page.reload();
  await page.getByText('Video: ready · Picture: starting').waitFor();
  const soon = 5000;
  state = 'unreachable';
  await page.clock.fastForward(soon);
  await page.getByText('Can’t reach the server').waitFor();
  state = 'ready';
  await page.clock.fastForward(soon);
  await page.getByText('Both tools are ready').waitFor();
});
