import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import {
  accessibilityProblems,
  chooseImage,
  cutOutShown,
  drop,
  film as sampleFilm,
  launchBrowser,
  visit,
} from '../support/browser.js';
import { infoWith, sendJson, startPageServer, type Handler } from '../support/page-server.js';
import { stack } from '../support/stack.js';

const folder = mkdtempSync(join(tmpdir(), 'screenshots-'));
const sizes = { phone: [360, 780], tablet: [768, 1024], desk: [1440, 900], wide: [2560, 1300] } as const;
const schemes = ['light', 'dark'] as const;
const languages = ['en', 'de', 'ja', 'ar'];
const textPercents = [100, 200];

/** All by default; `SHOTS=video-found-de-phone` selects those whose names contain it. */
const wanted = process.env.SHOTS ?? '';

let browser: Browser;
let cutOut: Buffer;
beforeAll(async () => {
  process.stdout.write(`Screenshots go to ${folder}\n`);
  browser = await launchBrowser();
  const mask = await sharp({ create: { width: 1600, height: 1200, channels: 4, background: '#00000000' } })
    .composite([
      {
        input: Buffer.from(
          '<svg width="1600" height="1200"><ellipse cx="800" cy="600" rx="500" ry="480"/></svg>',
        ),
      },
    ])
    .png()
    .toBuffer();
  cutOut = await sharp(stack.photo)
    .ensureAlpha()
    .composite([{ input: mask, blend: 'dest-in' }])
    .png()
    .toBuffer();
});
afterAll(async () => {
  await browser.close();
});

const copy = { video: 'copy', audio: 'copy' };
const film = infoWith(
  [
    {
      target: 'mp4-1080',
      href: 'api/stream/video',
      ...copy,
      height: 1080,
      formatIds: ['1'],
      estimatedBytes: 48e6,
    },
    {
      target: 'mp4-720',
      href: 'api/stream/video?fmt=mp4-720',
      ...copy,
      height: 720,
      formatIds: ['2'],
      estimatedBytes: 21e6,
    },
    { target: 'mp3', href: 'api/stream', audio: 'transcode', formatIds: ['2'], estimatedBytes: 3e6 },
  ],
  [
    { id: '1', width: 1920, height: 1080, videoCodec: 'avc1', audioCodec: 'mp4a.40.2' },
    { id: '2', width: 1280, height: 720, videoCodec: 'avc1', audioCodec: 'mp4a.40.2' },
  ],
  {
    title: 'Harbour lights: an evening walk through the old town, from the ferry to the market (part 2)',
    duration: 754,
    uploader: 'Evening Walks',
    uploadDate: '2026-01-31',
    clip: null,
    suggestedStart: null,
    audioLanguages: ['en', 'de', 'pt-BR'].map((language, index) => ({
      ...{ language, label: language, isOriginal: index === 0, isDescription: false },
    })),
    subtitles: ['en', 'de'].map((language) => ({
      language,
      label: language,
      isAutomatic: language === 'en',
    })),
    chapters: [0, 210, 480].map((start, index) => ({
      ...{ title: `The ferry and its passengers, part ${index + 1}`, start, end: start + 200 },
    })),
    originalAudio: {
      href: 'api/stream?fmt=original',
      container: 'opus',
      codec: 'opus',
      bitrateKbps: 128,
      isSiteFile: true,
      estimatedBytes: 11.9e6,
      exactBytes: 11.9e6,
    },
  },
);
const health: Handler = (_req, res) => {
  const limits = { imageMaxBytes: 15 * 1024 * 1024, imageMaxPixels: 50e6, imagesPerMinute: 5 };
  const services = { 'video-dl': { status: 'ok' }, 'bg-removal': { status: 'ok', limits } };
  sendJson(res, { status: 'ok', services });
};
const half: Handler = (req, res) => {
  res.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': '48000000' });
  if (req.method === 'HEAD') res.end();
  else res.write(Buffer.alloc(20e6));
};
const problem = (title: string, detail: string, code: string, status: number): Handler => {
  const body = {
    type: '/docs/errors#x',
    title,
    detail,
    code,
    retryable: status >= 429,
    requestId: '4f6e9a531c1f1b0c7a52',
  };
  return (req, res) => {
    req.resume().on('end', () => {
      if (status === 429) res.setHeader('Retry-After', '40');
      sendJson(res, body, status);
    });
  };
};
const never: Handler = (req) => void req.resume();
const sendCutOut: Handler = (req, res) => {
  req.resume().on('end', () => {
    res.setHeader('RateLimit', '"images"; r=3; t=20');
    res.setHeader('RateLimit-Policy', '"images"; q=5; w=60');
    res.writeHead(200, { 'Content-Type': 'image/png' }).end(cutOut);
  });
};

interface State {
  readonly name: string;
  readonly path?: string;
  readonly handlers?: Readonly<Record<string, Handler>>;
  readonly fileAccess?: boolean;
  /** Puts the open page into the state. */
  readonly act?: (page: Page) => Promise<void>;
}

/** Uses ids, because the texts depend on the language. */
const lookUp = async (page: Page): Promise<void> => {
  await page.locator('#video-url').fill('https://example.com/film');
  await page.keyboard.press('Enter');
};
const lookUpFilm = async (page: Page): Promise<void> => {
  await lookUp(page);
  await page.locator('[data-choice="sound"]').waitFor();
};
const startFilm = async (page: Page): Promise<void> => {
  await lookUpFilm(page);
  await page.locator('[data-choice="video"] .choice-act').click();
};
const showCutOut = async (page: Page): Promise<void> => {
  await chooseImage(page);
  await cutOutShown(page);
};
const shown = (selector: string) => (page: Page) => page.locator(selector).first().waitFor();
const entry = (tone: string) => shown(`.choice[data-tone="${tone}"]`);
const problemShown = shown('.problem');

const states: readonly State[] = [
  { name: 'opened' },
  {
    name: 'services-away',
    handlers: {
      'api/health': (_req, res) =>
        sendJson(
          res,
          {
            status: 'error',
            services: { 'video-dl': { status: 'ok' }, 'bg-removal': { status: 'starting' } },
          },
          503,
        ),
    },
    act: shown('#service-status[data-status="error"]'),
  },
  {
    name: 'video-looking-up',
    handlers: { 'api/info': never },
    act: async (page) => {
      await lookUp(page);
      await shown('#video[data-state="looking"]')(page);
    },
  },
  { name: 'video-found', act: lookUpFilm },
  {
    name: 'video-clip',
    act: async (page) => {
      await lookUpFilm(page);
      await page.locator('#clip summary').click();
      await page.locator('#clip [name="start"]').fill('soon');
      await page.locator('#clip [type="submit"]').click();
      await shown('#clip [aria-invalid="true"]')(page);
    },
  },
  {
    name: 'video-several',
    act: async (page) => {
      await page.locator('#video-url').fill('https://example.com/1 https://example.com/2');
      await page.keyboard.press('Enter');
      await shown('#links-list li:nth-child(2)[data-tone="ready"]')(page);
    },
  },
  {
    name: 'video-problem',
    handlers: {
      'api/info': problem(
        'The page is not supported',
        'Nothing on this page can be played by the download engine. Check that the page plays a video.',
        'unsupported_url',
        422,
      ),
    },
    act: async (page) => {
      await lookUp(page);
      await problemShown(page);
    },
  },
  {
    name: 'video-limited',
    handlers: { 'api/info': problem('Too many requests', 'Wait 40 s.', 'rate_limited', 429) },
    act: async (page) => {
      await lookUp(page);
      await page.waitForFunction(() =>
        /40|39|38/.test(document.querySelector('#video-looking-note')?.textContent ?? ''),
      );
    },
  },
  {
    name: 'video-key-asked',
    handlers: { 'api/info': problem('A key is needed', 'Send it.', 'unauthorized', 401) },
    act: async (page) => {
      await lookUp(page);
      await shown('.key-form')(page);
    },
  },
  {
    name: 'video-downloading',
    fileAccess: true,
    handlers: { 'api/stream/video': half },
    act: async (page) => {
      await startFilm(page);
      await entry('run')(page);
    },
  },
  {
    name: 'video-broken-off',
    fileAccess: true,
    handlers: {
      'api/stream/video': (req, res) => {
        half(req, res);
        if (req.method === 'GET') res.write(' ', () => res.destroy());
      },
    },
    act: async (page) => {
      await startFilm(page);
      await entry('wait')(page);
    },
  },
  {
    name: 'video-saved',
    fileAccess: true,
    handlers: {
      'api/stream/video': (req, res) => {
        res.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': '1000000' });
        res.end(req.method === 'HEAD' ? undefined : Buffer.alloc(1e6));
      },
    },
    act: async (page) => {
      await startFilm(page);
      await entry('done')(page);
    },
  },
  {
    name: 'video-recent',
    act: async (page) => {
      await lookUpFilm(page);
      await page.locator('#recent').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'image-working',
    handlers: { 'api/remove-background': never },
    act: async (page) => {
      await chooseImage(page);
      await shown('#image-work[data-state="working"]')(page);
    },
  },
  { name: 'image-done', act: showCutOut },
  {
    name: 'image-adjusted-on-colour',
    act: async (page) => {
      await showCutOut(page);
      await page.locator('[value="colour"]').check({ force: true });
      const tab = page.locator('#image-tabs button').nth(2);
      if (await tab.isVisible()) await tab.click();
    },
  },
  {
    name: 'image-retouched',
    act: async (page) => {
      await showCutOut(page);
      await page.locator('#image-retouch').click();
      await page.locator('#image-comparison').click({ position: { x: 120, y: 60 } });
      await shown('#brush-undo:enabled')(page);
    },
  },
  {
    name: 'image-saving',
    act: async (page) => {
      await showCutOut(page);
      const tab = page.locator('#image-tabs button').nth(1);
      if (await tab.isVisible()) await tab.click();
      await page.locator('[name="shape"][value="shop"]').check({ force: true });
    },
  },
  {
    name: 'video-list-running',
    handlers: { 'api/stream/video': half },
    act: async (page) => {
      await page.locator('#video-url').fill([1, 2, 3, 4, 5].map((n) => `https://example.com/${n}`).join(' '));
      await page.keyboard.press('Enter');
      await shown('#links-list li:nth-child(5)[data-tone="ready"]')(page);
      await page.locator('#all-start').click();
      await shown('#links-list li[data-tone="run"]')(page);
    },
  },
  {
    name: 'image-twenty',
    act: async (page) => {
      await chooseImage(page, ...Array.from({ length: 20 }, () => stack.photo));
      await shown('#image-strip li:nth-child(5)[data-state="done"]')(page);
      await cutOutShown(page);
    },
  },
  {
    name: 'image-several',
    act: async (page) => {
      await chooseImage(page, stack.photo, stack.photo, stack.photo);
      await shown('#image-strip li:nth-child(3)[data-state="done"]')(page);
      await cutOutShown(page);
    },
  },
  {
    name: 'image-waiting',
    handlers: { 'api/remove-background': problem('Too many requests', 'Wait 40 s.', 'rate_limited', 429) },
    act: async (page) => {
      await chooseImage(page);
      await shown('#image-work[data-state="waiting"]')(page);
    },
  },
  {
    name: 'image-refused',
    act: async (page) => {
      await drop(page, {
        name: 'IMG_0001.HEIC',
        type: 'image/heic',
        bytes: Buffer.from('\0\0\0\x18ftypheic', 'latin1'),
      });
      await problemShown(page);
    },
  },
  {
    name: 'both',
    act: async (page) => {
      await lookUpFilm(page);
      await showCutOut(page);
    },
  },
  { name: 'docs', path: '/docs/' },
  {
    name: 'docs-endpoint',
    path: '/docs/#streamVideo',
    act: async (page) => {
      await page.locator('#streamVideo [data-status="404"] summary').click();
    },
  },
  {
    name: 'docs-answer',
    path: '/docs/#getInfo',
    handlers: { 'api/info': film },
    act: async (page) => {
      const form = page.locator('#getInfo');
      await form.getByLabel('url').fill('https://example.com/film');
      await form.getByRole('button', { name: 'Send' }).click();
      await shown('.outcome pre')(page);
    },
  },
  { name: 'docs-errors', path: '/docs/errors#geo-blocked' },
  { name: 'docs-examples', path: '/docs/examples' },
];

interface View {
  readonly name: string;
  readonly viewport: { width: number; height: number };
  readonly colorScheme: (typeof schemes)[number];
  readonly textPercent: number;
}

/** Every combination of size, scheme and text size. */
const views: readonly View[] = Object.entries(sizes).flatMap(([size, [width, height]]) =>
  schemes.flatMap((colorScheme) =>
    textPercents.map((textPercent) => {
      const name = [size, colorScheme, textPercent].join('-');
      return { name, viewport: { width, height }, colorScheme, textPercent };
    }),
  ),
);

/** Runs in the page: finds clipped or overflowing text, and numbers broken across lines. */
function misplaced(): string[] {
  const found: string[] = [];
  const { clientWidth } = document.documentElement;
  const name = (element: Element) =>
    `${element.tagName.toLowerCase()}#${element.id}.${element.getAttribute('class') ?? ''}`;
  if (document.documentElement.scrollWidth > clientWidth) found.push('the page scrolls sideways');
  const isSeen = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  // Boxes that hide or scroll what doesn't fit, on purpose.
  const bounded =
    '.visually-hidden, .stage-controls span, .stage, .film-strip, .shapes, .tabs, pre, .table-scroll, svg';
  for (const element of document.querySelectorAll('body *')) {
    if (!isSeen(element) || element.closest(bounded) !== null) continue;
    const { left, right, width } = element.getBoundingClientRect();
    if (width > 0 && (left < -1 || right > clientWidth + 1)) found.push(`${name(element)} is off the screen`);
    const style = getComputedStyle(element);
    const cuts = style.overflowX !== 'visible' && style.textOverflow !== 'ellipsis';
    const isField = element.matches('input, select, progress');
    if (cuts && !isField && element.scrollWidth > element.clientWidth + 1) {
      found.push(`${name(element)} is cut off`);
    }
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const parent = node.parentElement;
    if (parent === null || !isSeen(parent) || parent.closest(bounded) !== null) continue;
    for (const { index, 0: number } of (node.textContent ?? '').matchAll(/(?<!\S)\d[\d.,:]*\d(?!\S)/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + number.length);
      const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
      if (new Set(tops).size > 1) found.push(`${number} in ${name(parent)} is over several lines`);
    }
  }
  return found;
}

it.each(states)('$name', async ({ name, path = '/', handlers, fileAccess = false, act }) => {
  await using server = await startPageServer({
    'api/health': health,
    'api/info': film,
    'api/remove-background': sendCutOut,
    ...handlers,
  });
  const problems: string[] = [];
  // The API's documentation is in English.
  for (const locale of path === '/' ? languages : ['en']) {
    const selected = views.filter((view) => `${name}-${locale}-${view.name}`.includes(wanted));
    const [first] = selected;
    if (first === undefined) continue;
    const { viewport } = first;
    await using reader = await visit(browser, path, { url: server.url, fileAccess, locale, viewport });
    const { page } = reader;
    if (path === '/') await shown('#service-status:not([data-status="unknown"])')(page);
    await act?.(page);
    for (const { name: view, textPercent, colorScheme, viewport } of selected) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.evaluate((percent) => {
        document.documentElement.style.fontSize = `${percent}%`;
        // Otherwise the sticky bar is in the middle of the image.
        scrollTo(0, 0);
      }, textPercent);
      const file = `${name}-${locale}-${view}`;
      const found = await page.evaluate(misplaced);
      // Once in each scheme for the docked layout and for the one with columns.
      if (/^(phone|desk)/.test(view) && textPercent === 100)
        found.push(...(await accessibilityProblems(page)));
      problems.push(...found.map((problem) => `${file}: ${problem}`));
      await page.screenshot({ path: join(folder, `${file}.png`), fullPage: true });
    }
  }
  expect(problems).toEqual([]);
});

it.runIf('readme'.includes(wanted))('readme', async () => {
  await using reader = await visit(browser, '/', { viewport: { width: 1200, height: 940 } });
  const { page } = reader;
  await page.locator('#video-url').fill(sampleFilm);
  await page.keyboard.press('Enter');
  await shown('[data-choice="sound"]')(page);
  await page.locator('#tools a[href="#image"]').click();
  await page.locator('#image-sample').click();
  await cutOutShown(page);
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(folder, 'readme.png') });
});
