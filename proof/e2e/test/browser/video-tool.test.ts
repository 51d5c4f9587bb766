import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { atNight } from '../../../vitest/at-night.js';
import { choice, drop, film, launchBrowser, lookUp, paste, visit } from '../support/browser.js';
import { healthy, infoWith, startPageServer } from '../support/page-server.js';
import { root, stack } from '../support/stack.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const problem = (page: Page) => page.locator('#video-problem').getByRole('alert');
/** What a choice says below its name. */
const about = async (page: Page, id: string) =>
  (await choice(page, id).locator('small').textContent())?.replaceAll('\u00a0', ' ');
const names = (page: Page) => page.locator('.choice strong').allTextContents();

describe('a link', () => {
  it('shows title, length and downloads, the best one first', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    await lookUp(page, film);
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    expect(await page.locator('#video-duration').textContent()).toBe('0:12');
    expect(await names(page)).toEqual(['Video', 'Sound only', 'Smaller video', 'Original sound']);
    expect(await about(page, 'video')).toMatch(/^[\d.]+ MB · 1080p · best quality$/);
    expect(await about(page, 'sound')).toMatch(/^about \d+ kB · MP3$/);
    expect(await page.locator('.choice.is-main').count()).toBe(1);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(
      /^\s*Video.*Download\s*$/s,
    );
    // Codecs are for those who ask.
    expect(await page.locator('#video-formats').isVisible()).toBe(false);
    await page.getByText('Other sizes and formats').click();
    await page.getByText(/Video: MP4\s· 1920 × 1080\s· H\.264 and AAC/).waitFor();
    expect(faults).toEqual([]);
  });

  it('is looked up at once when pasted or dropped anywhere: alone, in a sentence, in several lines', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    const asked: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/info') asked.push(searchParams.get('url'));
    });
    const field = page.getByLabel('Link to the page');
    const expectLookUp = async (give: () => Promise<void>) => {
      await field.fill('');
      const answered = page.waitForResponse('**/api/info?*');
      await give();
      await answered;
      await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
      expect(await field.inputValue()).toBe(film);
    };
    // No link: these ask nothing.
    for (const text of ['notes.txt', 'me@example.com', 'Nothing to see here.']) await paste(page, text);
    await drop(page, 'blob:http://example.com/an-image-of-this-page');
    for (const text of [film, `Look at this! ${film}, it is good.`, `  A short film\n${film}\n`]) {
      await expectLookUp(() => paste(page, text));
    }
    await expectLookUp(() => drop(page, film));
    // A copied table cell is a text and an image; the image isn't cut out.
    await expectLookUp(() =>
      field.evaluate((element, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', text);
        clipboardData.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
        const options = { clipboardData, bubbles: true, cancelable: true };
        element.dispatchEvent(new ClipboardEvent('paste', options));
      }, film),
    );
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(asked).toEqual([film, film, film, film, film]);
  });

  it('is found in what people type', async () => {
    await using server = await startPageServer({ 'api/health': healthy, 'api/info': infoWith([]) });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page } = reader;
    for (const [typed, address] of [
      ['youtube.com/watch?v=abc', 'https://youtube.com/watch?v=abc'],
      ['  www.example.com/film  ', 'https://www.example.com/film'],
      ['example.com', 'https://example.com'],
      ['seen at (https://example.com/a_(b))', 'https://example.com/a_(b)'],
      ['seen at https://example.com/a!', 'https://example.com/a'],
      ['https://example.com/Airplane!', 'https://example.com/Airplane!'],
      ['HTTPS://Example.com/x', 'HTTPS://Example.com/x'],
    ] as const) {
      const asked = page.waitForRequest('**/api/info?*');
      await lookUp(page, typed);
      expect(new URL((await asked).url()).searchParams.get('url')).toBe(address);
      await page.locator('#video[data-state="ready"]').waitFor();
    }
  });

  it('in the URL of the page is looked up, and a look-up updates the URL, without a thumbnail that could reach the user’s network', async () => {
    await using reader = await visit(browser, `/?url=${encodeURIComponent(film)}`);
    const { page, outside } = reader;
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    await lookUp(page, `${stack.pages}/with-picture`);
    await page.getByRole('heading', { name: 'A film with a picture' }).waitFor();
    expect(new URL(page.url()).searchParams.get('url')).toBe(`${stack.pages}/with-picture`);
    await page.reload();
    await page.getByRole('heading', { name: 'A film with a picture' }).waitFor();
    // Its address is without HTTPS.
    expect(await page.locator('#video-thumbnail').getAttribute('src')).toBeNull();
    expect(outside).toEqual([]);
  });

  it('that is typed before the code of the page has arrived stays, even if the URL of the page has another', async () => {
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': infoWith([]),
      'texts/en.json': (_req, res) => {
        const script = readFileSync(join(root, 'nginx/html/texts/en.json'));
        void arrived.then(() => res.setHeader('Content-Type', 'application/json').end(script));
      },
    });
    await using reader = await visit(browser, '/?url=https://example.com/old', { url: server.url });
    const { page } = reader;
    const typed = 'https://example.com/new';
    await page.locator('#video-url').fill(typed);
    arrive();
    await page.locator('[data-status="ok"]').waitFor();
    expect(await page.locator('#video-url').inputValue()).toBe(typed);
    expect(await page.locator('#video').getAttribute('data-state')).toBe('idle');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'A film' }).waitFor();
  });

  it('is taken from a phone’s share menu', async () => {
    await using reader = await visit(browser, `/?title=A+film&text=${encodeURIComponent(`Look! ${film}`)}`);
    const { page, client } = reader;
    await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
    const manifest = await fetch(`${client.url}/manifest.webmanifest`);
    expect(manifest.headers.get('content-type')).toBe('application/manifest+json');
    const { share_target: share, icons } = (await manifest.json()) as {
      share_target: object;
      icons: { src: string }[];
    };
    expect(share).toEqual({
      action: './',
      method: 'GET',
      params: { title: 'title', text: 'text', url: 'url' },
    });
    expect(icons).not.toEqual([]);
    for (const { src } of icons) expect((await fetch(`${client.url}/${src}`)).status).toBe(200);
  });

  it('shows the thumbnail from its own site over HTTPS, without a referrer', async () => {
    const thumbnail = 'https://media.example.com/poster.svg';
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': infoWith([], [], { thumbnail }),
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page, outside } = reader;
    let referrer: string | undefined;
    await page.route(thumbnail, async (route) => {
      referrer = route.request().headers()['referer'];
      const body = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"/>';
      await route.fulfill({ contentType: 'image/svg+xml', body });
    });
    await lookUp(page, 'https://example.com/film');
    await page.locator('#video-thumbnail:not([hidden])').waitFor();
    expect(outside).toEqual([thumbnail]);
    expect(referrer).toBeUndefined();
  });

  it('that can’t be used is explained in plain words next to the field', async () => {
    await using reader = await visit(browser);
    const { page, faults } = reader;
    for (const [address, title] of [
      [`${stack.pages}/only-words`, 'This page isn’t supported'],
      [`${stack.pages}/gone`, 'Video not found'],
      ['http://10.0.0.1/film', 'This link isn’t public'],
      ['ftp://example.com', 'This isn’t a link to a page'],
    ] as const) {
      await lookUp(page, address);
      await problem(page).getByRole('heading', { name: title }).waitFor();
      const words = (await problem(page).locator('.problem-detail').textContent()) ?? '';
      expect(words.length).toBeGreaterThan(40);
      expect(words).not.toMatch(/`|URL-encoded|`url`/);
      // The reference is for the operator, so it is not shown first.
      expect(await problem(page).locator('.problem-reference').isVisible()).toBe(false);
      await problem(page).getByText('Details').click();
      expect(await problem(page).locator('.problem-reference').isVisible()).toBe(true);
      expect(await problem(page).getByRole('link', { name: 'What this means' }).getAttribute('href')).toMatch(
        /\/docs\/errors#[a-z-]+$/,
      );
      expect(await page.locator('.choice').count()).toBe(0);
    }
    expect(faults).toEqual([]);
  });

  it('whose response the page can’t read, as after the server’s upgrade, is reported', async () => {
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': infoWith([], [], { downloads: undefined }),
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page } = reader;
    await lookUp(page, 'https://example.com/film');
    await problem(page).getByRole('button', { name: 'Try again' }).waitFor();
    expect(await page.locator('#video-looking').isVisible()).toBe(false);
  });

  it('that is missing causes no request, and one of a site that hangs can be cancelled', async () => {
    await using reader = await visit(browser);
    const { page } = reader;
    await lookUp(page, '  ');
    await page.getByText('Paste the link to a video’s page first.').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('video-url');

    await lookUp(page, `${stack.pages}/hangs`);
    await page.getByText('Looking at the page…').first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { name: 'Save a video', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Find' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('video-url');
  });
});

describe('the downloads', () => {
  const copy = { video: 'copy', audio: 'copy', estimatedBytes: 1_000_000 };
  const film1440 = { id: 'only', width: 2560, height: 1440, videoCodec: 'avc1', audioCodec: 'mp4a.40.2' };

  it('are named by their content', async () => {
    const cases: [name: string, formats: object[], downloads: object[], titles: string[]][] = [
      [
        'the same file once, by its true size',
        [film1440],
        [
          { target: 'mp3', audio: 'transcode', formatIds: ['only'], estimatedBytes: null },
          { target: 'mp4-720', ...copy, height: 1440, formatIds: ['only'] },
          { target: 'mp4-1080', ...copy, height: 1440, formatIds: ['only'] },
        ],
        ['Video: about 1.0 MB · 1440p', 'Sound only: size unknown · MP3'],
      ],
      [
        'a portrait video by its smaller side',
        [{ ...film1440, width: 1080, height: 1920 }],
        [{ target: 'mp4-1080', ...copy, height: 1920, formatIds: ['only'] }],
        ['Video: about 1.0 MB · 1080p'],
      ],
      [
        'the sound alone as the main one, where there is no picture',
        [{ ...film1440, width: null, height: null, videoCodec: null }],
        [{ target: 'mp3', audio: 'copy', formatIds: ['only'], estimatedBytes: 5_000_000 }],
        ['Sound only: about 5.0 MB · MP3'],
      ],
      [
        'what is encoded anew by the size that it will have',
        [{ ...film1440, videoCodec: 'vp9' }],
        [{ target: 'mp4-720', ...copy, video: 'transcode', height: 720, formatIds: ['only'] }],
        ['Video: about 1.0 MB · 720p'],
      ],
      [
        'the page’s own file',
        [film1440],
        [{ target: 'mp4-720', ...copy, video: 'as is', audio: 'as is', height: 1440, formatIds: ['only'] }],
        ['Video: about 1.0 MB · 1440p'],
      ],
    ];
    let answer = infoWith([]);
    await using server = await startPageServer({
      'api/health': healthy,
      'api/info': (req, res) => answer(req, res),
    });
    await using reader = await visit(browser, '/', { url: server.url });
    const { page, faults } = reader;
    for (const [name, formats, downloads, titles] of cases) {
      answer = infoWith(
        downloads.map((download, index) => ({ ...download, href: `api/stream?${index}` })),
        formats,
        { title: name },
      );
      await lookUp(page, 'https://example.com/film');
      await page.getByRole('heading', { name }).waitFor();
      const rows = await page
        .locator('.choice-text')
        .evaluateAll((all) =>
          all.map(({ children }) => [...children].map(({ textContent }) => textContent).join(': ')),
        );
      expect(rows.map((row) => row.replaceAll('\u00a0', ' '))).toEqual(titles);
      expect(await page.locator('.choice').first().getAttribute('class')).toContain('is-main');
    }
    expect(faults).toEqual([]);
  });

  it.each([
    ['a phone', { width: 360, height: 780 }],
    ...atNight([['a desk', { width: 1440, height: 900 }] as const]),
  ] as const)('start without scrolling on %s', async (_name, viewport) => {
    await using reader = await visit(browser, '/', { viewport });
    const { page } = reader;
    await lookUp(page, film);
    await choice(page, 'video').waitFor();
    for (const id of ['video', 'sound', 'small']) {
      const box = await choice(page, id).boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
    }
  });
});

it('a language, subtitles and a chapter can be chosen where there are several, and the choice is kept', async () => {
  const audioLanguages = [
    { language: 'en', label: 'English', isOriginal: true, isDescription: false },
    { language: 'de', label: 'German', isOriginal: false, isDescription: false },
    { language: 'en-desc', label: 'English (audio description)', isOriginal: false, isDescription: true },
  ];
  const more = {
    audioLanguages,
    subtitles: [
      { language: 'pt-BR', label: 'Portuguese', isAutomatic: false },
      { language: 'en', label: 'EN', isAutomatic: true },
    ],
    chapters: [
      { title: 'Overture', start: 0, end: 4 },
      { title: 'Finale', start: 4, end: 12 },
    ],
    clip: null,
  };
  const video = {
    target: 'mp4-720',
    video: 'copy',
    audio: 'copy',
    height: 720,
    exactBytes: 9,
    estimatedBytes: 9,
  };
  const sound = { target: 'mp3', audio: 'copy', exactBytes: 8, estimatedBytes: 8 };
  const downloads = [
    { ...video, formatIds: [], href: 'api/stream/video?url=x' },
    { ...sound, formatIds: [], href: 'api/stream?url=x' },
  ];
  let answer = infoWith(downloads, [], more);
  await using server = await startPageServer({
    'api/health': healthy,
    'api/info': (req, res) => answer(req, res),
    'api/stream': (_req, res) => res.end('MP3'),
    'api/stream/video': (_req, res) => res.end('MP4'),
  });
  await using reader = await visit(browser, '/', { url: server.url });
  const { page, faults } = reader;
  const language = page.getByRole('combobox', { name: 'Spoken language' });
  const subtitles = page.getByRole('combobox', { name: 'Subtitles' });
  const options = (select: typeof language) => select.locator('option').allTextContents();
  await lookUp(page, 'https://example.com/film');
  await choice(page, 'video').waitFor();
  expect(await options(language)).toEqual(['English (original)', 'German', 'English (described)']);
  expect(await options(subtitles)).toEqual(['None', 'Brazilian Portuguese', 'English (automatic)']);
  expect(await names(page)).toEqual(['Video', 'Sound only']);
  await language.selectOption('German');
  await subtitles.selectOption('Brazilian Portuguese');
  expect(await names(page)).toEqual(['Video, German', 'Sound only, German', 'Subtitles as text']);
  expect(await about(page, 'video')).toBe('about 9 bytes · 720p · with subtitles');

  for (const [id, path, query] of [
    ['video', '/api/stream/video', 'url=x&lang=de&subtitles=pt-BR'],
    ['sound', '/api/stream', 'url=x&lang=de'],
    ['text', '/api/stream', 'url=x&fmt=srt&subtitles=pt-BR'],
  ] as const) {
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname === path);
    await choice(page, id).locator('.choice-act').click();
    expect(new URL((await asked).url()).search).toBe(`?${query}`);
  }

  await page.getByText('Save only a part').click();
  await page.getByRole('combobox', { name: 'Chapter' }).selectOption({ label: '0:04\u00a0· Finale' });
  const asked = page.waitForRequest('**/api/info?*');
  await page.getByRole('button', { name: 'Apply' }).click();
  expect(new URL((await asked).url()).searchParams.get('start')).toBe('4');

  // Another page, which lacks them: nothing to choose. The next one that has them: chosen already.
  answer = infoWith(downloads, [], { title: 'Another' });
  await lookUp(page, 'https://example.com/other');
  await page.getByRole('heading', { name: 'Another' }).waitFor();
  expect(await names(page)).toEqual(['Video', 'Sound only']);
  expect(await language.isVisible()).toBe(false);
  expect(await subtitles.isVisible()).toBe(false);
  await page.reload();
  const others = downloads.map((each) => ({ ...each, href: `${each.href}&n=3` }));
  answer = infoWith(others, [], { ...more, title: 'The third' });
  await lookUp(page, 'https://example.com/third');
  await page.getByRole('heading', { name: 'The third' }).waitFor();
  expect(await names(page)).toEqual(['Video, German', 'Sound only, German', 'Subtitles as text']);
  await language.selectOption('English (original)');
  expect(await names(page)).toEqual(['Video', 'Sound only', 'Subtitles as text']);
  expect(faults).toEqual([]);
});

it('recent lookups stay in this browser and can be erased', async () => {
  await using reader = await visit(browser);
  const { page } = reader;
  await lookUp(page, film);
  await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('link', { name: 'A short sample film' }).click();
  await page.getByRole('heading', { name: 'A short sample film' }).waitFor();
  await page.getByRole('button', { name: 'Erase' }).click();
  expect(await page.locator('#recent').isVisible()).toBe(false);
  expect(await page.evaluate(() => localStorage.getItem('recent-videos'))).toBeNull();
});
