import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@media-services/stack';
import { logsDir } from '@media-services/stack/set-up';
import type { Browser, Page } from 'playwright-core';
import { chooseImage, drop, film, launchBrowser, launchFirefox, visit } from '../support/browser.js';
import { stack } from '../support/stack.js';

// Everything that was started ends as a saved file without another click: against gateways with their
// default limits, in browsers with and without the File System Access API.

interface Way {
  readonly browser: 'Chromium' | 'Firefox';
  readonly savesIn: 'a folder' | 'downloads';
}
const ways: readonly Way[] = [
  { browser: 'Chromium', savesIn: 'downloads' },
  { browser: 'Chromium', savesIn: 'a folder' },
  { browser: 'Firefox', savesIn: 'downloads' },
];

let folder: string;
/** What the folder had before a test. */
let earlier: readonly string[];
let browsers: Record<Way['browser'], Browser>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-downloads-'));
  browsers = { Chromium: await launchBrowser(folder), Firefox: await launchFirefox(folder) };
});
afterAll(async () => {
  await Promise.all(Object.values(browsers).map((browser) => browser.close()));
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  earlier = readdirSync(folder);
});

const longWait = { timeout: 240_000 };

/** Names one link per number; `rate` slows a link's file down to so many bytes per second. */
const links = (count: number, rate = 0) =>
  Array.from({ length: count }, (_, index) => `${film}?${rate > 0 ? `rate=${rate}&` : ''}n=${index}`);

/** Pastes links, and starts all of them. */
async function startAll(page: Page, { savesIn }: Way, urls: readonly string[]): Promise<void> {
  if (savesIn === 'a folder')
    await page.evaluate(() =>
      Object.assign(window, { showDirectoryPicker: () => navigator.storage.getDirectory() }),
    );
  await drop(page, urls.join('\n'));
  await page.getByRole('button', { name: 'Sound only' }).click();
  await page.getByRole('button', { name: /^Download all/ }).click();
}

/** Resolves with the sizes of the saved files once the page says that all are saved. */
async function savedFiles(page: Page, { savesIn }: Way, count: number): Promise<number[]> {
  await page.getByText(`${count} of ${count} saved`).waitFor(longWait);
  if (savesIn === 'a folder')
    return page.evaluate(async () => {
      const found: number[] = [];
      const files = (await navigator.storage.getDirectory()) as unknown as {
        values: () => AsyncIterable<FileSystemFileHandle>;
      };
      for await (const file of files.values()) found.push((await file.getFile()).size);
      return found;
    });
  return readdirSync(folder)
    .filter((name) => !earlier.includes(name))
    .map((name) => statSync(join(folder, name)).size);
}

describe.each(ways)('in $browser, into $savesIn', (way) => {
  const open = (url?: string) => visit(browsers[way.browser], '/', url === undefined ? {} : { url });

  it('ten links are saved', async () => {
    await using reader = await open();
    await startAll(reader.page, way, links(10));
    const sizes = await savedFiles(reader.page, way, 10);
    expect(sizes).toHaveLength(10);
    expect(new Set(sizes).size).toBe(1);
    expect(reader.faults).toEqual([]);
  });

  it('links are saved although the connection was away in between', async () => {
    await using reader = await open();
    const { page } = reader;
    await startAll(page, way, links(4, 300_000));
    await page.locator('#links-list > [data-tone="run"]').first().waitFor();
    await page.context().setOffline(true);
    await page.getByText('You are offline').waitFor();
    await page.context().setOffline(false);
    expect(await savedFiles(page, way, 4)).toHaveLength(4);
  });

  it('links are saved although the server restarts in between', async () => {
    const start = (port?: number) =>
      startStack({
        ...(port !== undefined && { port }),
        env: { ...process.env, ALLOWED_PRIVATE_SOURCES: new URL(stack.films).host },
        logsDir: join(logsDir, 'e2e-restart'),
      });
    const first = await start();
    try {
      await first.healthy();
      await using reader = await open(first.url);
      const { page } = reader;
      await startAll(page, way, links(4, 300_000));
      await page.locator('#links-list > [data-tone="run"]').first().waitFor();
      await first.stop();
      await using second = await start(Number(new URL(first.url).port));
      await second.healthy();
      expect(await savedFiles(page, way, 4)).toHaveLength(4);
    } finally {
      await first.stop();
    }
  });
});

it('what two tabs of one browser have started is all saved', async () => {
  await using reader = await visit(browsers.Chromium);
  const other = await reader.page.context().newPage();
  await other.goto(reader.client.url);
  const [first, second] = [links(12, 300_000).slice(0, 6), links(12, 300_000).slice(6)];
  const way = { browser: 'Chromium', savesIn: 'downloads' } as const;
  await startAll(reader.page, way, first);
  await startAll(other, way, second);
  await Promise.all([reader.page, other].map((page) => page.getByText('6 of 6 saved').waitFor(longWait)));
});

it.each(['Chromium', 'Firefox'] as const)(
  'twenty photographs become cut-outs in %s, at five a minute',
  async (name) => {
    await using reader = await visit(browsers[name]);
    const { page } = reader;
    const refusals: number[] = [];
    page.on('response', (response) => {
      if (response.status() === 429) refusals.push(429);
    });
    await chooseImage(page, ...Array.from({ length: 20 }, () => stack.photo));
    await page.locator('#image-strip li[data-state="done"]').nth(19).waitFor({ timeout: 360_000 });
    await page.getByRole('button', { name: 'Save 20' }).click();
    await page.getByText(/cutouts\.zip/).waitFor({ state: 'attached' });
    await expect.poll(() => readdirSync(folder).length).toBe(earlier.length + 1);
    expect(refusals).toEqual([]);
  },
);
