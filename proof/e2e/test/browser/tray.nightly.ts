import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { choice, launchBrowser, lookUp, paste, startChoice, visit, writtenFile } from '../support/browser.js';
import { healthy, infoWith, sendJson, startPageServer } from '../support/page-server.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const entries = (page: Page, tone: string) => page.locator(`#tray-list > [data-tone="${tone}"]`);
const audio = { target: 'mp3', audio: 'copy', formatIds: [], estimatedBytes: 8 };

/** Streams that stay open until `finish`. */
function openStreams() {
  const open: ServerResponse[] = [];
  return {
    open,
    handler: (_req: IncomingMessage, res: ServerResponse): void => {
      res.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': '8' });
      res.write('half');
      open.push(res);
    },
    finish: (rest = 'done'): void => open.splice(0).forEach((res) => res.end(rest)),
  };
}

async function site(streams = openStreams()) {
  const server = await startPageServer({
    'api/health': healthy,
    'api/info': (req, res) => {
      const { searchParams } = new URL(req.url ?? '', 'http://page');
      infoWith([{ ...audio, href: `api/stream?${searchParams.toString()}` }])(req, res);
    },
    'api/stream': streams.handler,
  });
  return { url: server.url, streams, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

it('a download runs on while another link is looked up, and asks before the page closes', async () => {
  await using served = await site();
  await using reader = await visit(browser, '/', { url: served.url, fileAccess: true });
  const { page } = reader;
  await lookUp(page, 'https://example.com/one');
  await startChoice(page, 'sound');
  await entries(page, 'run').getByText('4 bytes of 8 bytes').waitFor();
  await lookUp(page, 'https://example.com/two');
  await choice(page, 'sound').and(page.locator('[data-tone="ready"]')).waitFor();
  expect(await entries(page, 'run').count()).toBe(1);

  const dialog = page.waitForEvent('dialog');
  void page.reload().catch(() => undefined);
  const shown = await dialog;
  expect(shown.type()).toBe('beforeunload');
  await shown.dismiss();
  served.streams.finish();
  await entries(page, 'done').waitFor();
  expect((await writtenFile(page, 'A film.mp3'))?.toString()).toBe('halfdone');
});

it('a double-click starts one download, and Enter keeps the focus on the button', async () => {
  await using served = await site();
  await using reader = await visit(browser, '/', { url: served.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/one');
  await choice(page, 'sound').locator('.choice-act').dblclick();
  await entries(page, 'run').waitFor();
  expect(await page.locator('#tray-list > li').count()).toBe(1);
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('choice-act');
  served.streams.finish();
  await entries(page, 'done').waitFor();
  await page.keyboard.press('Enter');
  await entries(page, 'run').waitFor();
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('choice-act');
  served.streams.finish();
});

it('a look-up is not cancelled by a double-click, and waits for a rate limit by itself', async () => {
  let asked = 0;
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': (req, res) => {
      asked += 1;
      if (asked > 1) setTimeout(() => infoWith([{ ...audio, href: 'api/stream' }])(req, res), 300);
      else {
        res.setHeader('Retry-After', '30');
        sendJson(res, { title: 'T', detail: 'D', code: 'rate_limited', retryable: true }, 429);
      }
    },
  });
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  await page.clock.install();
  await page.getByLabel('Link to the page').fill('https://example.com/one');
  await page.locator('#video-submit').dblclick();
  await page.getByText(/Continues in \d+\sseconds/).waitFor();
  expect(asked).toBe(1);
  await page.clock.fastForward('00:31');
  await choice(page, 'sound').waitFor();
  expect(asked).toBe(2);
});

it('the videos of a page are a list, whose titles open them; Back returns to it', async () => {
  const asked: (string | null)[] = [];
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': (req, res) => {
      const item = new URL(req.url ?? '', 'http://page').searchParams.get('item');
      asked.push(item);
      const items = ['First', 'Second'].map((title, index) => ({ index: index + 1, title }));
      const title = item === '2' ? 'Second' : 'First';
      infoWith([{ ...audio, href: `api/stream?item=${item ?? '1'}` }], [], {
        title,
        items,
        playlistIndex: Number(item ?? 1),
        playlistCount: 2,
      })(req, res);
    },
    'api/stream': (_req, res) => res.writeHead(200, { 'Content-Type': 'audio/mpeg' }).end('film'),
  });
  await using reader = await visit(browser, '/', { url: server.url });
  const { page, faults } = reader;
  await lookUp(page, 'https://example.com/two');
  await page.getByRole('heading', { name: '2 videos' }).waitFor();
  await page.getByRole('button', { name: 'Second', exact: true }).click();
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: '2 videos' }).waitFor();
  await page.getByRole('button', { name: 'Download all 2' }).click();
  await page.getByText('2 of 2 saved').waitFor();
  expect(asked).toEqual([null, '2', '1']);
  expect(faults).toEqual([]);
});

it('of many links only the first 20 are shown', async () => {
  await using served = await site();
  await using reader = await visit(browser, '/', { url: served.url });
  const { page } = reader;
  await paste(page, Array.from({ length: 25 }, (_, index) => `https://example.com/${index}`).join(' '));
  await page.getByText('Only the first 20 of 25 links are shown.').waitFor();
  expect(await page.locator('#links-list > li').count()).toBe(20);
});

it('offline, what was started waits and goes on by itself', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await page.getByText('Both tools are ready').waitFor();
  await page.context().setOffline(true);
  await page.getByText('You are offline').waitFor();
  await lookUp(page, 'https://example.com/film');
  await page.getByText('You’re offline. What you started waits here').waitFor();
  await page.context().setOffline(false);
  await page.getByText('Both tools are ready').waitFor();
  await page.getByRole('alert').waitFor();
});
