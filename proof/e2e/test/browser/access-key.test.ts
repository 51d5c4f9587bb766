import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { chooseImage, launchBrowser, lookUp, saved, startChoice, visit } from '../support/browser.js';
import { healthy, infoWith, sendJson, startPageServer, type Handler } from '../support/page-server.js';
import { stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const key = 'key/of+alice';
const refusal = { title: 'A key is needed', detail: 'Send it.', code: 'unauthorized', retryable: false };
/** Large enough for the browser’s own download. */
const mp3 = { target: 'mp3', href: 'api/stream', audio: 'copy', formatIds: [], estimatedBytes: 90e6 };

/** A gateway that requires the key and records requests. */
async function startGuarded() {
  const asked: IncomingMessage[] = [];
  const guarded =
    (handler: Handler): Handler =>
    (req, res) => {
      asked.push(req);
      req.resume();
      const bearer = req.headers.authorization === `Bearer ${key}`;
      const cookie = req.headers.cookie === `access-key=${encodeURIComponent(key)}`;
      if (bearer || cookie) handler(req, res);
      else sendJson(res, refusal, 401);
    };
  const server = await startPageServer({
    'api/health': healthy,
    'api/info': guarded(infoWith([mp3])),
    'api/stream': guarded((_req, res) => {
      res.setHeader('Content-Disposition', 'attachment; filename="song.mp3"');
      res.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': '4' }).end('film');
    }),
    'api/remove-background': guarded((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'image/png' }).end(readFileSync(stack.photo));
    }),
  });
  return { url: server.url, asked, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const enterKey = async (page: Page) => {
  await page.getByLabel('Access key', { exact: true }).fill(key);
  await page.keyboard.press('Enter');
};

it('is requested when the server requires one, stored in this browser, and deleted on request', async () => {
  await using server = await startGuarded();
  await using reader = await visit(browser, '/', { url: server.url });
  const { page, faults } = reader;
  await lookUp(page, 'https://example.com/film');
  await page.getByRole('heading', { name: 'This server requires an access key' }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('password');
  // A pasted key is never taken for a link, and one that no header can carry is not accepted.
  const pasted = await page.getByLabel('Access key', { exact: true }).evaluate((field) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'alice.key/1');
    return field.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  });
  expect(pasted).toBe(true);
  await page.getByLabel('Access key', { exact: true }).fill('“key”');
  await page.keyboard.press('Enter');
  expect(await page.locator('.key-form :invalid').count()).toBe(1);
  // A wrong one is not kept, and the message differs.
  await page.getByLabel('Access key', { exact: true }).fill('key/of+alic');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'That key isn’t valid' }).waitFor();
  expect(await page.evaluate(() => localStorage.getItem('access-key'))).toBeNull();
  await enterKey(page);
  await page.getByRole('heading', { name: 'A film' }).waitFor();

  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await page.getByRole('heading', { name: 'A film' }).waitFor();
  expect(await page.getByText('An access key is kept in this browser.').isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Erase it' }).click();
  expect(await page.getByText('An access key is kept in this browser.').isVisible()).toBe(false);
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await page.getByRole('heading', { name: 'This server requires an access key' }).waitFor();
  expect(faults).toEqual([]);
});

it('is sent with the browser’s own downloads, never in a URL', async () => {
  await using server = await startGuarded();
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  await enterKey(page);
  const started = page.waitForEvent('download');
  await startChoice(page, 'sound');
  const download = await started;
  expect(readFileSync(await download.path(), 'utf8')).toBe('film');
  const saved = server.asked.at(-1);
  expect([saved?.method, saved?.headers.authorization]).toEqual(['GET', undefined]);
  // The cookie is limited to this path, so scripts elsewhere on the server can't read it.
  expect(await page.evaluate(() => document.cookie)).toBe('');
  expect(server.asked.map(({ url }) => url).join()).not.toContain('alice');
});

it('is sent when the page writes the file', async () => {
  await using server = await startGuarded();
  await using reader = await visit(browser, '/', { url: server.url, fileAccess: true });
  const { page } = reader;
  await lookUp(page, 'https://example.com/film');
  await enterKey(page);
  await startChoice(page, 'sound');
  await saved(page, 'sound');
  expect(server.asked.every(({ headers }) => headers.cookie === undefined)).toBe(true);
});

it('is sent with images', async () => {
  await using server = await startGuarded();
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  await chooseImage(page);
  await page.getByRole('heading', { name: 'This server requires an access key' }).waitFor();
  const answer = page.waitForResponse(
    (response) => response.status() === 200 && /remove-/.test(response.url()),
  );
  await enterKey(page);
  expect((await answer).request().headers().authorization).toBe(`Bearer ${key}`);
});

it('is requested by the API reference too, whose curl line names a variable instead', async () => {
  await using server = await startGuarded();
  await using reader = await visit(browser, '/docs/#getInfo', { url: server.url });
  const { page } = reader;
  const form = page.locator('#getInfo');
  await form.getByLabel('url').fill('https://example.com/film');
  await form.getByRole('button', { name: 'Send' }).click();
  await enterKey(page);
  await form.getByText('"title": "A film"').waitFor();
  const line = await form.locator('.curl').innerText();
  expect(line).toContain('-H "Authorization: Bearer $KEY"');
  expect(line).not.toContain(key);
});
