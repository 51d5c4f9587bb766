import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { chooseImage, cutOutShown, drop, launchBrowser, lookUp, visit } from '../support/browser.js';
import { infoWith, sendJson, startPageServer, type Handler } from '../support/page-server.js';
import { root, stack } from '../support/stack.js';

const folder = join(root, 'proof/e2e/screenshots');
const sizes = { phone: [360, 780], tablet: [768, 1024], desk: [1440, 900] } as const;
const schemes = ['light', 'dark'] as const;

let browser: Browser;
let cutOut: Buffer;
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
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
  [{ id: '1', width: 1920, height: 1080, videoCodec: 'avc1', audioCodec: 'mp4a.40.2' }],
);
const health: Handler = (_req, res) => {
  const upload = { maxFileBytes: 15 * 1024 * 1024, maxPixels: 50e6, imagesPerMinute: 5 };
  const services = { 'video-dl': { status: 'ok' }, 'bg-removal': { status: 'ok', checks: { upload } } };
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
  /** Brings the page into the state, from opened on. */
  readonly act?: (page: Page) => Promise<void>;
}

const lookUpFilm = async (page: Page): Promise<void> => {
  await lookUp(page, 'https://example.com/film');
  await page.locator('[data-target="mp3"]').waitFor();
};
const startFilm = async (page: Page): Promise<void> => {
  await lookUpFilm(page);
  await page.locator('[data-target="mp4-1080"]').getByRole('link').click();
};
const showCutOut = async (page: Page): Promise<void> => {
  await chooseImage(page);
  await cutOutShown(page);
};
const shown = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();

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
    act: shown('Video: ready'),
  },
  {
    name: 'video-looking-up',
    handlers: { 'api/info': never },
    act: async (page) => {
      await lookUp(page, 'https://example.com/film');
      await shown('Looking at the page…')(page);
    },
  },
  { name: 'video-found', act: lookUpFilm },
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
      await lookUp(page, 'https://example.com/film');
      await shown('The page is not supported')(page);
    },
  },
  {
    name: 'video-limited',
    handlers: { 'api/info': problem('Too many requests', 'Wait 40 s.', 'rate_limited', 429) },
    act: async (page) => {
      await lookUp(page, 'https://example.com/film');
      await shown('Too many requests')(page);
    },
  },
  {
    name: 'video-key-asked',
    handlers: { 'api/info': problem('A key is needed', 'Send it.', 'unauthorized', 401) },
    act: async (page) => {
      await lookUp(page, 'https://example.com/film');
      await page.getByLabel('Access key').waitFor();
    },
  },
  {
    name: 'video-downloading',
    fileAccess: true,
    handlers: { 'api/stream/video': half },
    act: async (page) => {
      await startFilm(page);
      await shown(/^20\.0\sMB of 48\.0\sMB/)(page);
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
      await shown('The connection broke after')(page);
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
      await shown(/^Saved as/)(page);
    },
  },
  {
    name: 'video-recent',
    act: async (page) => {
      await lookUpFilm(page);
      await page.getByText('Recent', { exact: true }).click();
    },
  },
  {
    name: 'image-working',
    handlers: { 'api/remove-background': never },
    act: async (page) => {
      await chooseImage(page);
      await shown('Removing the background…')(page);
    },
  },
  { name: 'image-done', act: showCutOut },
  {
    name: 'image-adjusted-on-colour',
    act: async (page) => {
      await showCutOut(page);
      await page.getByLabel('Another colour').check({ force: true });
      await page.getByRole('button', { name: 'Adjust edges' }).click();
    },
  },
  {
    name: 'image-several',
    act: async (page) => {
      await chooseImage(page, stack.photo, stack.photo, stack.photo);
      await page.getByRole('button', { name: 'Save all 3' }).waitFor();
      await cutOutShown(page);
    },
  },
  {
    name: 'image-waiting',
    handlers: { 'api/remove-background': problem('Too many requests', 'Wait 40 s.', 'rate_limited', 429) },
    act: async (page) => {
      await chooseImage(page);
      await shown(/The limit for this minute is reached\. Continues/)(page);
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
      await shown('HEIC files can’t be used')(page);
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
    path: '/docs/#video-dl-streamVideo',
    act: async (page) => {
      await page.locator('#video-dl-streamVideo [data-status="404"] summary').click();
    },
  },
  {
    name: 'docs-answer',
    path: '/docs/#video-dl-getInfo',
    handlers: { 'api/info': film },
    act: async (page) => {
      const form = page.locator('#video-dl-getInfo');
      await form.getByLabel('url').fill('https://example.com/film');
      await form.getByRole('button', { name: 'Send' }).click();
      await shown('"title": "A film"')(page);
    },
  },
  { name: 'docs-errors', path: '/docs/errors#geo-blocked' },
  { name: 'docs-examples', path: '/docs/examples' },
];

it.each(states)('$name', async ({ name, path = '/', handlers, fileAccess = false, act }) => {
  await using server = await startPageServer({
    ...{ 'api/health': health, 'api/info': film, 'api/remove-background': sendCutOut },
    ...handlers,
  });
  for (const [size, [width, height]] of Object.entries(sizes)) {
    for (const colorScheme of schemes) {
      const options = { url: server.url, viewport: { width, height }, colorScheme, fileAccess };
      await using reader = await visit(browser, path, options);
      if (path === '/') await reader.page.locator('#service-status:not([data-status="unknown"])').waitFor();
      await act?.(reader.page);
      // What sticks to the window's edge would be in the middle of the picture.
      await reader.page.evaluate(() => scrollTo(0, 0));
      await reader.page.screenshot({
        path: join(folder, `${name}-${size}-${colorScheme}.png`),
        fullPage: true,
      });
    }
  }
});
