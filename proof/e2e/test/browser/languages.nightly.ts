import type { Browser, Page } from 'playwright-core';
import { accessibilityProblems, launchBrowser, lookUp, visit } from '../support/browser.js';
import { healthy, infoWith, sendJson, startPageServer } from '../support/page-server.js';

let browser: Browser;
let server: Awaited<ReturnType<typeof startPageServer>>;
beforeAll(async () => {
  browser = await launchBrowser();
  const film = { target: 'mp4-720', href: 'api/stream/video', video: 'copy', audio: 'copy', height: 720 };
  const info = (title: string) =>
    infoWith([{ ...film, formatIds: [], estimatedBytes: 1_234_567_890 }], [], {
      title,
      uploadDate: '2026-01-31',
    });
  server = await startPageServer({
    'api/health': healthy,
    'api/info': (req, res) => {
      const url = new URL(req.url ?? '', 'http://page').searchParams.get('url') ?? '';
      const code = /error=(\w+)/.exec(url)?.[1];
      if (code === undefined) info(url.includes('harbour') ? 'أضواء الميناء' : 'A film')(req, res);
      else sendJson(res, { title: 'T', detail: 'D', code, retryable: false }, 422);
    },
  });
});
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const shownIn = (page: Page) =>
  page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]);
const loadedTables = (page: Page) =>
  page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => /texts\/(\w+)\.json$/.exec(name)?.[1])
      .filter((name) => name !== undefined),
  );
const look = async (page: Page, url: string) => {
  await page.locator('#video-url').fill(url);
  await page.keyboard.press('Enter');
};

it.each([
  ['ar-EG', 'ar', 'rtl', 'احفظ فيديو', 'الأداتان جاهزتان'],
  ['sv-SE', 'en', 'ltr', 'Save a video', 'Both tools are ready'],
  ['de-AT', 'de', 'ltr', 'Video speichern', 'Beide Werkzeuge sind bereit'],
  ['zh-CN', 'zh-Hans', 'ltr', '保存视频', '两个工具均可使用'],
  ['es-MX', 'es', 'ltr', 'Guarda un vídeo', 'Las dos herramientas están listas'],
  ['fr', 'fr', 'ltr', 'Enregistrez une vidéo', 'Les deux outils sont prêts'],
  ['pt-PT', 'pt-BR', 'ltr', 'Salve um vídeo', 'As duas ferramentas estão prontas'],
  ['ja', 'ja', 'ltr', '動画を保存', 'どちらのツールも利用できます'],
])('a browser in %s sees the page in %s, accessible', async (locale, lang, dir, title, ready) => {
  await using reader = await visit(browser, '/', { url: server.url, locale });
  const { page, faults } = reader;
  await page.getByRole('heading', { name: title, exact: true }).waitFor();
  await page.getByText(ready).waitFor();
  const sites = page.locator('[data-text="video.sites"]');
  expect(await sites.innerText()).toMatch(/YouTube.*TikTok.*SoundCloud/);
  expect(
    await sites.locator('a').evaluate((link) => [link.getAttribute('href'), link.getAttribute('target')]),
  ).toEqual(['https://github.com/yt-dlp/yt-dlp/blob/master/supportedsites.md', '_blank']);
  expect(await sites.locator('a').innerText()).not.toBe('');
  expect(await shownIn(page)).toEqual([lang, dir]);
  expect(new Set(await loadedTables(page))).toEqual(new Set([lang.split('-')[0], 'en']));
  expect(await page.locator('#language').inputValue()).toBe(lang.split('-')[0]);
  await look(page, 'https://example.com/film');
  await page.locator('.choice').first().waitFor();
  await look(page, 'https://example.com/?error=geo_blocked');
  await page.getByRole('alert').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(faults).toEqual([]);
});

it('another language can be chosen; the choice is remembered', async () => {
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  await page.getByText('Both tools are ready').waitFor();
  await page.getByLabel('Language', { exact: true }).selectOption('Deutsch');
  await page.getByRole('heading', { name: 'Video speichern', exact: true }).waitFor();
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'Video speichern', exact: true }).waitFor();
  await page.getByLabel('Sprache', { exact: true }).selectOption('العربية');
  await page.getByRole('heading', { name: 'احفظ فيديو', exact: true }).waitFor();
  expect(await shownIn(page)).toEqual(['ar', 'rtl']);
  await page.locator('#language').selectOption('English');
  await page.getByRole('heading', { name: 'Save a video', exact: true }).waitFor();
  expect(await shownIn(page)).toEqual(['en', 'ltr']);
});

it('numbers, sizes, dates and errors are written in the language', async () => {
  await using reader = await visit(browser, '/', { url: server.url, locale: 'de-DE' });
  const { page } = reader;
  expect(await shownIn(page)).toEqual(['de', 'ltr']);
  expect(await loadedTables(page)).toEqual(['de', 'en']);
  await look(page, 'https://example.com/film');
  await page.locator('.choice').first().waitFor();
  const about = await page.locator('.choice small').first().textContent();
  expect(about?.replaceAll('\u00a0', ' ')).toMatch(/^etwa 1,2 GB/);
  expect(await page.locator('#video-about').textContent()).toContain('31.01.2026');
  await look(page, 'https://example.com/?error=geo_blocked');
  await page.getByRole('heading', { name: 'Im Land dieses Servers nicht verfügbar' }).waitFor();
  // An unknown code keeps the server's text.
  await look(page, 'https://example.com/?error=brand_new');
  await page.getByRole('heading', { name: 'T', exact: true }).waitFor();
});

it('a title has the text direction of its language', async () => {
  await using reader = await visit(browser, '/', { url: server.url, locale: 'ar' });
  const { page } = reader;
  const title = page.locator('#video-title');
  const direction = () => title.evaluate((element) => getComputedStyle(element).direction);
  await look(page, 'https://example.com/film');
  await page.getByText('A film').first().waitFor();
  expect(await direction()).toBe('ltr');

  await page.locator('#language').selectOption('English');
  await page.getByRole('link', { name: 'Picture' }).waitFor();
  await look(page, 'https://example.com/harbour');
  await page.getByText('أضواء الميناء').first().waitFor();
  expect(await direction()).toBe('rtl');
});

it('the English page has the same texts before and after its script runs', async () => {
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  await page.getByText('Both tools are ready').waitFor();
  const words = () =>
    page.evaluate(() => {
      // Ignore texts that the page has changed since.
      const status = document.getElementById('service-status-text');
      if (status) status.textContent = 'Checking the services…';
      for (const name of ['submit-text', 'submit-icon']) document.querySelector(`.${name}`)?.remove();
      return [...document.querySelectorAll('template')]
        .map(({ innerHTML }) => innerHTML)
        .concat(document.body.outerHTML)
        .join('\n')
        .replace(/\s+/g, ' ')
        .replace(/ ?(<[^>]*>) ?/g, '$1');
    });
  const before = await words();
  // As text: the test runner would replace `import` by its own. Texts are inserted into an English
  // page only for a regional locale.
  await page.evaluate(`(async () => {
    document.documentElement.lang = 'en-GB';
    await import(new URL('js/texts.js?again', document.baseURI).href);
    document.documentElement.lang = 'en';
  })()`);
  expect(await words()).toBe(before);
});

it('a text without a translation is shown in English', async () => {
  await using reader = await visit(browser, '/', { url: server.url, locale: 'de' });
  const { page } = reader;
  await page.route('**/texts/de.json', (route) => route.fulfill({ json: { 'status.offline': 'Offline' } }));
  await page.reload();
  await page.getByText('Both tools are ready').waitFor();
  expect(await shownIn(page)).toEqual(['de', 'ltr']);
});

it('texts that fail to arrive twice arrive at the third try', async () => {
  await using reader = await visit(browser, '/', { url: server.url });
  const { page } = reader;
  let tries = 0;
  await page.route('**/texts/en.json', (route) => (++tries > 2 ? route.continue() : route.abort()));
  await page.reload();
  await page.getByText('Both tools are ready').waitFor();
  expect(tries).toBe(3);
});

it('a table that can’t be loaded leaves the page in English', async () => {
  await using reader = await visit(browser, '/', { url: server.url, locale: 'de' });
  const { page } = reader;
  await page.route('**/texts/de.json', (route) => route.abort());
  await page.reload();
  await page.getByText('Both tools are ready').waitFor();
  expect(await shownIn(page)).toEqual(['en', 'ltr']);
  await lookUp(page, 'https://example.com/film');
  await page.getByRole('heading', { name: 'A film' }).waitFor();
});
