import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import {
  chooseImage,
  cutOutShown,
  film,
  launchBrowser,
  lookUp,
  startChoice,
  visit,
} from '../support/browser.js';
import { startGateway, startWhole, type Place } from '../support/place.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

/** Makes the browser save the MP3. Resolves with the file's name. */
async function saveSound(page: Page): Promise<string> {
  const started = page.waitForEvent('download');
  await startChoice(page, 'sound');
  const download = await started;
  expect(await download.failure()).toBeNull();
  return download.suggestedFilename();
}

describe('below a path of a server that also serves other sites', () => {
  let place: Place;
  beforeAll(async () => {
    place = await startWhole({ BASE_PATH: '/media' });
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
  });

  it('the page works, links a problem to its explanation, and requests nothing outside the path', async () => {
    await using reader = await visit(browser, '/media/', { url: place.url });
    const { page, outside, faults } = reader;
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith('http')) asked.push(new URL(request.url()).pathname);
    });
    await page.reload();
    await page.getByText('Both tools are ready').waitFor();
    await lookUp(page, film);
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    expect(await saveSound(page)).toBe('A short sample film.mp3');
    expect(asked).toContain('/media/api/stream');
    await chooseImage(page);
    await cutOutShown(page);

    await page.getByRole('link', { name: 'Video', exact: true }).click();
    await lookUp(page, 'http://10.0.0.1/film');
    const problem = page.locator('#video-problem').getByRole('alert');
    await problem.getByText('Details').click();
    const link = problem.getByRole('link', { name: 'What this means' });
    const href = await link.evaluate((anchor: HTMLAnchorElement) => anchor.href);
    expect(href).toBe(`${place.url}/media/docs/errors#forbidden-address`);
    await page.goto(href);
    await page.locator('#forbidden-address').waitFor();
    expect(asked.filter((path) => !path.startsWith('/media/'))).toEqual([]);
    expect([...outside, ...faults]).toEqual([]);
  });

  it('every link of the page and of the documentation works', async () => {
    await using reader = await visit(browser, '/media/', { url: place.url });
    const { page } = reader;
    const links = new Set<string>();
    for (const path of ['/media/', '/media/docs/', '/media/docs/examples', '/media/docs/errors']) {
      await page.goto(place.url + path);
      const hrefs = await page
        .locator('a[href], link[href]')
        .evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement | HTMLLinkElement).href));
      for (const href of hrefs) links.add(href.split('#')[0] ?? '');
    }
    const own = [...links].filter((href) => href.startsWith(place.url));
    expect(own.length).toBeGreaterThan(10);
    for (const href of own) {
      expect(href.slice(place.url.length)).toMatch(/^\/media\//);
      expect([href, (await fetch(href)).status]).toEqual([href, 200]);
    }
  });
});

describe('with keys', () => {
  const key = 'key-of-alice';
  const folder = mkdtempSync(join(tmpdir(), 'media-services-keys-'));
  const file = join(folder, 'keys');
  writeFileSync(file, `alice ${createHash('sha256').update(key).digest('hex')}\n`);
  let place: Place;
  beforeAll(async () => {
    place = await startGateway({ API_KEYS_FILE: file });
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('the page asks for one, rejects a wrong one, and works with the right one', async () => {
    await using reader = await visit(browser, '/', { url: place.url });
    const { page, faults } = reader;
    const refused = page.getByRole('heading', { name: 'This server requires an access key' });
    await lookUp(page, film);
    await refused.waitFor();
    await page.getByLabel('Access key', { exact: true }).fill('key-of-mallory');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'That key isn’t valid' }).waitFor();
    await page.getByLabel('Access key', { exact: true }).fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    expect(await saveSound(page)).toBe('A short sample film.mp3');
    await chooseImage(page);
    await cutOutShown(page);
    expect(faults).toEqual([]);
  });
});

describe('from a page of another origin', () => {
  let pages: Place;
  let place: Place;
  beforeAll(async () => {
    pages = await startEmptyPage();
    place = await startGateway({ CORS_ALLOWED_ORIGINS: pages.url });
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
    await pages[Symbol.asyncDispose]();
  });

  /** Runs in the page: the parts of a response that its script can read, or the browser's rejection. */
  const ask = async ({ url, headers }: { url: string; headers: Record<string, string> }) => {
    try {
      const answer = await fetch(url, { headers });
      const title = String(((await answer.json()) as Record<string, unknown>).title);
      return { title, names: [...answer.headers.keys()] };
    } catch (error) {
      return { refusal: error instanceof TypeError };
    }
  };
  const info = (gateway: Place) => `${gateway.url}/api/info?url=${encodeURIComponent(film)}`;

  it('that is allowed, responses and their headers can be read, also after a preflight', async () => {
    await using reader = await visit(browser, '/', { url: pages.url });
    for (const headers of [{}, { Authorization: 'Bearer none' }]) {
      const seen = await reader.page.evaluate(ask, { url: info(place), headers });
      expect(seen.title).toBe('A short sample film');
      for (const name of ['server-timing', 'x-request-id']) expect(seen.names).toContain(name);
    }
    const problem = await reader.page.evaluate(ask, { url: `${place.url}/api/nothing`, headers: {} });
    expect(problem.title).toBe('No such endpoint');
  });

  it('that is allowed, a broken download can resume', async () => {
    await using reader = await visit(browser, '/', { url: pages.url });
    const watched = encodeURIComponent(`${stack.films}/watch?media=film-1080.mp4`);
    const url = `${place.url}/api/stream/video?fmt=mp4-1080&url=${watched}`;
    const seen = await reader.page.evaluate(async (address) => {
      const whole = await fetch(address, { method: 'HEAD' });
      const etag = whole.headers.get('etag') ?? 'none exposed';
      const rest = await fetch(address, { headers: { Range: 'bytes=1000-', 'If-Range': etag } });
      await rest.body?.cancel();
      return { status: rest.status, range: rest.headers.get('content-range') };
    }, url);
    expect(seen.status).toBe(206);
    expect(seen.range).toMatch(/^bytes 1000-\d+\/\d+$/);
  });

  it('that is not allowed, the browser blocks the response', async () => {
    await using gateway = await startGateway({});
    await using reader = await visit(browser, '/', { url: pages.url });
    for (const headers of [{}, { Authorization: 'Bearer none' }]) {
      expect(await reader.page.evaluate(ask, { url: info(gateway), headers })).toEqual({ refusal: true });
    }
  });
});

/** Another server with an empty page, for its origin. */
async function startEmptyPage(): Promise<Place> {
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Another page</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
