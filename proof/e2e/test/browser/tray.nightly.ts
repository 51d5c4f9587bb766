import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, lookUp, paste, visit, writtenFile } from '../support/browser.js';
import { healthy, infoWith, sendJson, startPageServer } from '../support/page-server.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const offer = (page: Page, target: string) => page.locator(`#video-downloads [data-target="${target}"]`);
const entries = (page: Page, state: string) => page.locator(`.tray-entry[data-state="${state}"]`);
const audio = { target: 'mp3', href: 'api/stream', audio: 'copy', formatIds: [], estimatedBytes: 4 };

/** Streams that stay open until `finish`. */
function openStreams() {
  const open: ServerResponse[] = [];
  let heads = 0;
  return {
    open,
    heads: () => heads,
    handler: ({ method }: IncomingMessage, res: ServerResponse): void => {
      res.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': '8' });
      if (method === 'HEAD') {
        heads += 1;
        res.end();
        return;
      }
      res.write('half');
      open.push(res);
    },
    send: (text: string): void => open.forEach((res) => res.write(text)),
    finish: (rest = 'done'): void => open.splice(0).forEach((res) => res.end(rest)),
  };
}

async function site(streams = openStreams()) {
  const server = await startPageServer({
    'api/health': healthy,
    'api/info': infoWith([audio]),
    'api/stream': streams.handler,
  });
  return { url: server.url, streams, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe('the tray', () => {
  it('keeps a download running while another link is looked up', async () => {
    await using served = await site();
    const { streams } = served;
    await using reader = await visit(browser, '/', { url: served.url, fileAccess: true });
    const { page } = reader;
    await lookUp(page, 'https://example.com/one');
    await offer(page, 'mp3').getByRole('link').click();
    await entries(page, 'running').getByText('4 bytes of 8 bytes').waitFor();

    await lookUp(page, 'https://example.com/two');
    await offer(page, 'mp3').waitFor();
    expect(await entries(page, 'running').count()).toBe(1);
    // Shown for seconds only, because no further bytes follow.
    const speedShown = page.locator('.tray-state').evaluate(
      (element) =>
        new Promise<string>((resolve) => {
          new MutationObserver(() => {
            const text = element.textContent;
            if (text.endsWith('left')) resolve(text);
          }).observe(element, { childList: true });
        }),
    );
    streams.send('do');
    expect((await speedShown).replace(/\s/g, ' ')).toMatch(/^6 bytes of 8 bytes · 75% · .+\/s · .+ left$/);
    streams.finish('ne');

    await entries(page, 'done').waitFor();
    expect((await writtenFile(page, 'audio.mp3'))?.toString()).toBe('halfdone');
  });

  it('runs three downloads at once, and starts the next one automatically', async () => {
    await using served = await site();
    const { streams } = served;
    await using reader = await visit(browser, '/', { url: served.url, fileAccess: true });
    const { page } = reader;
    await lookUp(page, 'https://example.com/one');
    for (let count = 1; count <= 4; count += 1) {
      await offer(page, 'mp3').getByRole('link').click();
      await page.locator(`.tray-entry:nth-child(${count})`).waitFor();
    }
    await entries(page, 'waiting').waitFor();
    await entries(page, 'running').nth(2).waitFor();
    expect(streams.open).toHaveLength(3);

    streams.finish();
    await entries(page, 'done').nth(2).waitFor();
    await entries(page, 'running').getByText('4 bytes of 8 bytes').waitFor();
    streams.finish();
    await entries(page, 'done').nth(3).waitFor();
  });

  it('starts one download on a double-click, and keeps the focus after Enter', async () => {
    await using served = await site();
    const { streams } = served;
    await using reader = await visit(browser, '/', { url: served.url });
    const { page } = reader;
    await lookUp(page, 'https://example.com/one');
    await offer(page, 'mp3').getByRole('link').dblclick();
    await entries(page, 'started').waitFor();
    expect(await page.locator('.tray-entry').count()).toBe(1);
    expect(streams.heads()).toBe(1);

    await offer(page, 'mp3').getByRole('link').focus();
    await page.keyboard.press('Enter');
    await entries(page, 'started').nth(1).waitFor();
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('download-start');
  });

  it('asks before the page closes while a download is unsaved', async () => {
    await using served = await site();
    const { streams } = served;
    await using reader = await visit(browser, '/', { url: served.url, fileAccess: true });
    const { page } = reader;
    await lookUp(page, 'https://example.com/one');
    await offer(page, 'mp3').getByRole('link').click();
    await entries(page, 'running').waitFor();
    const dialog = page.waitForEvent('dialog');
    const reloaded = page.reload();
    const shown = await dialog;
    expect(shown.type()).toBe('beforeunload');
    await shown.accept();
    await reloaded;
    streams.finish();
  });
});

describe('a look-up', () => {
  it('is not cancelled by a double-click', async () => {
    let asked = 0;
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': (req, res) => {
        asked += 1;
        setTimeout(() => infoWith([audio])(req, res), 300);
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page } = reader;
    await page.getByLabel('Link to the video’s page').fill('https://example.com/one');
    await page.locator('#video-submit').dblclick();
    await offer(page, 'mp3').waitFor();
    expect(asked).toBe(1);
  });

  it('continues automatically after a rate limit', async () => {
    let asked = 0;
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': (req, res) => {
        asked += 1;
        if (asked > 1) infoWith([audio])(req, res);
        else {
          res.setHeader('Retry-After', '30');
          sendJson(res, { title: 'T', detail: 'D', code: 'rate_limited', retryable: true }, 429);
        }
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page } = reader;
    await page.clock.install();
    await lookUp(page, 'https://example.com/one');
    await page.getByText(/Continues automatically in \d+\sseconds/).waitFor();
    expect(asked).toBe(1);
    await page.clock.fastForward('00:30');
    await offer(page, 'mp3').waitFor();
  });
});

it('lets the user choose among several videos of a page', async () => {
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
  });
  await using reader = await visit(browser, '/', { url: server.url });
  const { page, faults } = reader;
  await lookUp(page, 'https://example.com/two');
  await page.getByRole('heading', { name: 'First' }).waitFor();
  await page.getByLabel('Video', { exact: true }).selectOption('2 of 2: Second');
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  expect(await offer(page, 'mp3').getByRole('link').getAttribute('href')).toBe('api/stream?item=2');

  await page.reload();
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  expect(asked).toEqual([null, '2', '2']);
  expect(faults).toEqual([]);
});

describe('several links', () => {
  it('are looked up one after the other, within the rate limit, and shown on request', async () => {
    const asked: (string | null)[] = [];
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': (req, res) => {
        asked.push(new URL(req.url ?? '', 'http://page').searchParams.get('url'));
        if (asked.length !== 2) infoWith([audio])(req, res);
        else {
          res.setHeader('Retry-After', '30');
          sendJson(res, { title: 'T', detail: 'D', code: 'rate_limited', retryable: true }, 429);
        }
      },
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page, faults } = reader;
    const links = ['https://example.com/1', 'https://example.com/2', 'https://example.com/3'];
    await page.clock.install();
    await paste(page, links.join('\n'));
    await page.getByRole('heading', { name: '3 links' }).waitFor();
    await page.getByText(/^Rate limit reached\. Continues automatically/).waitFor();
    await page.clock.fastForward('00:30');
    await page.locator('.link[data-state="ready"]').nth(2).waitFor();
    expect(asked).toEqual([links[0], links[1], links[1], links[2]]);

    await page.getByRole('button', { name: 'Show' }).nth(1).click();
    await offer(page, 'mp3').waitFor();
    expect(new URL(page.url()).searchParams.get('url')).toBe(links[1]);
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('download-start');
    expect(asked).toHaveLength(4);

    await paste(page, Array.from({ length: 25 }, (_, index) => `https://example.com/${index}`).join(' '));
    await page.getByText('Only the first 20 of 25 links are looked up.').waitFor();
    expect(await page.locator('.link').count()).toBe(20);
    expect(faults).toEqual([]);
  });

  it('are saved into one folder under different names', async () => {
    const streams = openStreams();
    await using served = await site(streams);
    await using reader = await visit(browser, '/', { url: served.url, fileAccess: true });
    const { page } = reader;
    await page.evaluate(() =>
      Object.assign(window, { showDirectoryPicker: () => navigator.storage.getDirectory() }),
    );
    await paste(page, 'https://example.com/1 https://example.com/2');
    await page.locator('#links-format').selectOption('audio');
    await page.getByRole('button', { name: 'Download 2' }).click();
    await entries(page, 'running').nth(1).getByText('4 bytes of 8 bytes').waitFor();
    await entries(page, 'running').nth(0).getByText('4 bytes of 8 bytes').waitFor();
    streams.finish();
    await entries(page, 'done').nth(1).waitFor();
    expect((await writtenFile(page, 'audio.mp3'))?.toString()).toBe('halfdone');
    expect((await writtenFile(page, 'audio (2).mp3'))?.toString()).toBe('halfdone');
  });
});

it('says that the user is offline', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await page.getByText('Both tools are ready').waitFor();
  await page.context().setOffline(true);
  await page.getByText('You are offline').waitFor();
  await page.context().setOffline(false);
  await page.getByText('Both tools are ready').waitFor();
});
