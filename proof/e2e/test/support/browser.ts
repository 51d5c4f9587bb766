import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findBrowser, findExecutable } from '@media-services/stack/set-up';
import {
  chromium,
  firefox,
  type Browser,
  type BrowserContextOptions,
  type FileChooser,
  type Page,
} from 'playwright-core';
import sharp from 'sharp';
import { newClient, type Client } from './client.js';
import { stack } from './stack.js';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Below Jest's limit, so that a failure names what is missing; long, for busy machines. */
const stepTimeoutMs = 90_000;

export async function launchBrowser(downloadsPath?: string): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('No Chromium: install it, or set CHROMIUM_PATH.');
  const env = { ...process.env, FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') };
  return chromium.launch({ executablePath, args: flags, env, ...(downloadsPath && { downloadsPath }) });
}

/** Debian's Firefox, over WebDriver BiDi. Playwright 1.63 to 1.65 send a command that the ESR lacks. */
export async function launchFirefox(downloadsPath: string): Promise<Browser> {
  const executablePath = findExecutable('firefox-esr') ?? findExecutable('firefox');
  if (executablePath === undefined) throw new Error('No Firefox: install firefox-esr.');
  return firefox.launch({ channel: 'moz-firefox', executablePath, downloadsPath });
}

/** A page of one visitor with a separate client address, and what went wrong on it. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly client: Client;
  /** Exceptions, and console errors other than failed requests, which the page shows. */
  readonly faults: readonly string[];
  /** URLs requested outside the gateway. */
  readonly outside: readonly string[];
}

interface VisitOptions extends BrowserContextOptions {
  /** Where the page is; by default the gateway, from a separate client address. */
  readonly url?: string;
  /** Whether the page may write into a chosen file; the tests use the origin's private file system. */
  readonly fileAccess?: boolean;
}

export async function visit(browser: Browser, path = '/', options: VisitOptions = {}): Promise<Visit> {
  const { url, fileAccess = false, ...contextOptions } = options;
  const client = url === undefined ? await newClient() : standIn(url);
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    ...contextOptions,
  });
  await context.addInitScript(fileAccess ? chooseOwnFile : removeFilePicker);
  const page = await context.newPage();
  page.setDefaultTimeout(stepTimeoutMs);
  const faults: string[] = [];
  const outside: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol } = new URL(request.url());
    if (/^https?:$/.test(protocol) && !request.url().startsWith(client.url)) outside.push(request.url());
  });
  await page.goto(client.url + path);
  return {
    page,
    client,
    faults,
    outside,
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await client[Symbol.asyncDispose]();
    },
  };
}

function standIn(url: string): Client {
  return { url, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Runs in the page. */
function removeFilePicker(): void {
  Reflect.deleteProperty(window, 'showSaveFilePicker');
  Reflect.deleteProperty(window, 'showDirectoryPicker');
}

/** Runs in the page: a test can't answer the browser's dialog. */
function chooseOwnFile(): void {
  Object.assign(window, {
    showSaveFilePicker: async ({ suggestedName }: { suggestedName: string }) => {
      const folder = await navigator.storage.getDirectory();
      return folder.getFileHandle(suggestedName, { create: true });
    },
  });
}

/**
 * The content of a file written by a page with {@link VisitOptions.fileAccess}; undefined if it
 * doesn't exist.
 */
export async function writtenFile(page: Page, name: string): Promise<Buffer | undefined> {
  const base64 = await page.evaluate(async (fileName) => {
    const folder = await navigator.storage.getDirectory();
    try {
      const file = await (await folder.getFileHandle(fileName)).getFile();
      const reader = new FileReader();
      const read = new Promise((resolve) => (reader.onload = resolve));
      reader.readAsDataURL(file);
      await read;
      return (reader.result as string).split(',')[1] ?? ''; // a data URL
    } catch (error) {
      if (error instanceof DOMException && error.name === 'NotFoundError') return undefined;
      throw error;
    }
  }, name);
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** axe's findings for the page (WCAG 2.2 A and AA, and its best practices), or only for its colours. */
export async function accessibilityProblems(page: Page, what: 'all' | 'colours' = 'all'): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(
    async (rules) => {
      const runner = (globalThis as unknown as { axe: AxeRunner }).axe;
      const { violations } = await runner.run(
        rules === null ? {} : { runOnly: { type: 'rule', values: rules } },
      );
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
    },
    what === 'all' ? null : ['color-contrast'],
  );
}

interface AxeRunner {
  run(options: {
    runOnly?: { type: 'rule'; values: readonly string[] };
  }): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** The sum of all layout shifts so far (Layout Instability API). */
export async function layoutShift(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const entries = await new Promise<PerformanceEntryList>((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries())).observe({
        type: 'layout-shift',
        buffered: true,
      });
      setTimeout(() => resolve([]), 200);
    });
    return entries.reduce((sum, entry) => sum + (entry as PerformanceEntry & { value: number }).value, 0);
  });
}

export const film = `${stack.films}/film`;

export async function lookUp(page: Page, url: string): Promise<void> {
  // Before the page's code has loaded, the form sends the browser to the video itself.
  await page.locator('.is-ready').waitFor({ state: 'attached' });
  await page.getByLabel('Link to the page').fill(url);
  await page.keyboard.press('Enter');
}

/** The row of a choice: `video`, `small`, `sound` or `original`. */
export const choice = (page: Page, id: string) => page.locator(`[data-choice="${id}"]`);

export async function startChoice(page: Page, id: string): Promise<void> {
  await choice(page, id).locator('.choice-act').click();
}

/** Resolves when a choice has been saved. */
export async function saved(page: Page, id: string): Promise<void> {
  await choice(page, id).filter({ hasText: 'saved' }).and(page.locator('[data-tone="done"]')).waitFor();
}

export async function chooseImage(page: Page, ...files: string[]): Promise<void> {
  await page.locator('#image-file').setInputFiles(files.length === 0 ? stack.photo : files);
}

/** Selects `files` in the file chooser that `open` opens. */
export async function answerFileChooser(
  page: Page,
  open: () => Promise<void>,
  files: Parameters<FileChooser['setFiles']>[0],
): Promise<void> {
  const opened = async (): Promise<void> => {
    // A busy page may handle a key before Playwright intercepts its choosers: one round trip first.
    await page.evaluate(() => undefined);
    await open();
  };
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), opened()]);
  await chooser.setFiles(files);
}

/** A cut-out in the service's format: a grey rectangle in the middle. */
export async function rectangleCutOut(width = 40, height = 30): Promise<Buffer> {
  const rectangle = {
    create: { width: width / 2, height: height / 3, channels: 4 as const, background: '#808080' },
  };
  return sharp({ create: { width, height, channels: 4, background: '#00000000' } })
    .composite([{ input: await sharp(rectangle).png().toBuffer() }])
    .png()
    .toBuffer();
}

/** Answers the page's images without the model, for tests that are not about the cut-out itself. */
export async function answerImages(page: Page, cutOut?: Buffer): Promise<void> {
  const body = cutOut ?? (await rectangleCutOut(400, 300));
  await page.route('**/api/remove-background', (route) => route.fulfill({ contentType: 'image/png', body }));
}

/** Resolves when the cut-out is shown. */
export async function cutOutShown(page: Page): Promise<void> {
  await page.locator('#image-work[data-preview="shown"]').waitFor();
}

/** Resolves once the page has stored a result or its strokes for a reload. */
export async function keptForReload(page: Page, store: 'results' | 'strokes', isKept = true): Promise<void> {
  const isAsExpected = async ([name, expected]: [string, boolean]) => {
    const settled = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(new Error('The database cannot be read.'));
      });
    const database = await settled(indexedDB.open('cut-outs'));
    try {
      if (!database.objectStoreNames.contains(name)) return !expected;
      const count = await settled(database.transaction(name).objectStore(name).count());
      return count > 0 === expected;
    } finally {
      database.close();
    }
  };
  await page.waitForFunction(isAsExpected, [store, isKept] as [string, boolean]);
}

/** Pastes text or a file somewhere on the page, outside any field. */
export async function paste(page: Page, what: string | GivenFile): Promise<void> {
  await give(page, 'paste', what);
}

/** Drops links or files somewhere on the page. */
export async function drop(page: Page, ...what: (string | GivenFile)[]): Promise<void> {
  await give(page, 'drop', ...what);
}

interface GivenFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
  /** How many zero bytes the page appends: sending megabytes to it takes too long on a busy machine. */
  readonly zeros?: number;
}

async function give(page: Page, how: 'drop' | 'paste', ...given: (string | GivenFile)[]): Promise<void> {
  const items = given.map((item) =>
    typeof item === 'string'
      ? { text: item }
      : { name: item.name, type: item.type, base64: item.bytes.toString('base64'), zeros: item.zeros ?? 0 },
  );
  // The page's module listens once its texts are loaded, which may be after the load event.
  await page.locator('html.is-ready').waitFor();
  await page.evaluate(
    ({ how, items }) => {
      const data = new DataTransfer();
      for (const item of items) {
        if ('text' in item) data.setData(how === 'drop' ? 'text/uri-list' : 'text/plain', item.text);
        else {
          const bytes = Uint8Array.from(atob(item.base64), (character) => character.charCodeAt(0));
          data.items.add(new File([bytes, new Uint8Array(item.zeros)], item.name, { type: item.type }));
        }
      }
      const options = { bubbles: true, cancelable: true };
      if (how === 'paste') {
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, ...options }));
        return;
      }
      for (const event of ['dragover', 'drop']) {
        document.body.dispatchEvent(new DragEvent(event, { dataTransfer: data, ...options }));
      }
    },
    { how, items },
  );
}
