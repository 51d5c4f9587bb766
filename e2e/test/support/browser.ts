import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { newClient, type Client } from './client.js';
import { stack } from './stack.js';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function browserFile(): string {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable);
  const file = process.env.CHROMIUM_PATH || onPath;
  if (file === undefined)
    throw new Error('No Chromium: install it (apt-get install chromium) or set CHROMIUM_PATH.');
  return file;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not to be run: look further
  }
}

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserFile(), args: flags });
}

/** A page of a reader with an address of their own, and what went wrong on it. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly client: Client;
  /** Exceptions, and console errors other than failed requests, which are shown to the reader. */
  readonly faults: readonly string[];
  /** Addresses that were asked for outside the gateway. */
  readonly outside: readonly string[];
}

export async function visit(
  browser: Browser,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const client = await newClient();
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
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

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with the page (WCAG 2.2 A and AA, and its best practices). */
export async function accessibilityProblems(page: Page, exclude: readonly string[] = []): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async (excluded) => {
    const runner = (globalThis as unknown as { axe: AxeRunner }).axe;
    const { violations } = await runner.run({ exclude: excluded.map((selector) => [selector]) });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  }, exclude);
}

interface AxeRunner {
  run(context: { exclude: string[][] }): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
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

export async function lookUp(page: Page, address: string): Promise<void> {
  await page.getByLabel('Address of the video’s page').fill(address);
  await page.getByRole('button', { name: 'Look up' }).click();
}

export async function chooseImage(page: Page, file: string = stack.photo): Promise<void> {
  await page.locator('#image-file').setInputFiles(file);
}

/** Resolves when the cut-out is shown. */
export async function cutOutShown(page: Page): Promise<void> {
  await page.locator('#image-stage[data-state="ready"]').waitFor({ timeout: 60_000 });
}
