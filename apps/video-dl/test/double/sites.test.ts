import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Double, mediaSeconds, tones } from '@media-services/fault-site/double';
import { receive } from '../deliver/support/receive.js';
import { interpreters } from '../support/pythons.js';
import { isNight } from '../../../../proof/vitest/at-night.js';
import type { TestService } from '../support/service.js';
import { pitchOf } from './pitch.js';
import { type Shape, shapes, startBehind } from './shapes.js';
import { inspect } from '../media/support/inspect.js';

const docs = fileURLToPath(new URL('../../../../docs/internals/sites.md', import.meta.url));
/** How many seconds longer than the video a result may be: encoders pad the last frame, and MP3 encoders also the first. */
const paddingSeconds = 0.1;
/** To look up one page. The documentation has the number of each on an idle machine. */
const maxRequests = 12;

let double: Double;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-sites-'));
  double = await Double.start();
});

afterAll(async () => {
  await double[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const paths = {
  mp3: '/api/stream?',
  'mp4-720': '/api/stream/video?',
  'mp4-1080': '/api/stream/video?fmt=mp4-1080&',
};
type Target = keyof typeof paths;

/** Number of requests to the sites since the last call. */
function requestsSince(): number {
  return double.requests.splice(0).length;
}

/** What a client gets, as shown in the documentation. */
async function cellOf(page: string, target: Target): Promise<string> {
  const { status, complete, body } = await receive(
    `${service.url}${paths[target]}url=${encodeURIComponent(page)}`,
  );
  expect(complete).toBe(true);
  if (status !== 200) return `${status} ${(JSON.parse(body.toString()) as { code: string }).code}`;
  const file = join(folder, `result.${target.slice(0, 3)}`);
  await writeFile(file, body);
  const { seconds, height, pitch } = await measure(file);
  expect(seconds).toBeGreaterThanOrEqual(mediaSeconds);
  expect(seconds).toBeLessThan(mediaSeconds + paddingSeconds);
  return [...(height === null ? [] : [`${height} px`]), `${pitch} Hz`].join(', ');
}

/** Requests for one page, by shape. */
const documented = new Map<Shape, number>();
const targets = Object.keys(paths) as readonly Target[];

/** By day one output of each shape, in turn: `info` has shown that the service reads it. */
function targetsOf(shape: Shape): readonly Target[] {
  return isNight ? targets : targets.slice(shapes.indexOf(shape) % targets.length).slice(0, 1);
}

/** The only audio track that is right, and the height in pixels. */
function expectedCell({ heights }: Shape, target: Target): string {
  if (target === 'mp3') return `${tones.original} Hz`;
  const height = heights?.[target === 'mp4-720' ? 0 : 1];
  return height === undefined ? '422 no_media' : `${height} px, ${tones.original} Hz`;
}

const [chosen, ...others] = await interpreters();
const runs = [
  // By day half of YouTube's shapes, all other sites.
  {
    ...chosen,
    readable: shapes.filter(({ site }, index) => isNight || site !== 'YouTube' || index % 2 === 0),
  },
  ...others.map((other) => ({ ...other, readable: shapes.filter(({ isOld }) => isOld) })),
];

describe.each(runs)('with yt-dlp $ytDlp', ({ python, readable }) => {
  beforeAll(async () => {
    service = await startBehind(double, { ...(python && { YTDLP_PYTHON: python }) });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  describe.each(readable)('$site: $shape', (shape) => {
    const { page } = shape;
    let extractions: number;

    beforeAll(() => {
      extractions = service.context.extraction.extractions;
      double.requests.splice(0);
    });

    it('lists the available downloads', async () => {
      const { status, body } = await service.info(page);
      expect({ status, body }).toMatchObject({
        status: 200,
        // A playlist's segments may be a frame longer than the page says.
        body: { duration: expect.closeTo(mediaSeconds, 1) as number, isLive: false },
      });
      const requests = requestsSince();
      expect(requests).toBeLessThanOrEqual(maxRequests);
      if (python === chosen?.python) documented.set(shape, requests);
    });

    it.each(targetsOf(shape))('%s: the right video with all of the original audio', async (target) => {
      expect(await cellOf(page, target)).toBe(expectedCell(shape, target));
    });

    it('extracts only once', () => {
      expect(service.context.extraction.extractions - extractions).toBe(1);
    });
  });
});

// The numbers are for the pinned yt-dlp; another version may send other requests.
if (isNight && process.env['YTDLP_PYTHON'] === undefined) {
  it('matches the results in the documentation', async () => {
    const table = renderTable(documented);
    if (process.env['UPDATE_DOCS'] === '1') await writeFile(docs, table);
    expect(comparable(await readFile(docs, 'utf8'))).toBe(comparable(table));
  });
}

/** docs/internals/sites.md. The test of each output checks its cell. */
function renderTable(requestsOf: ReadonlyMap<Shape, number>): string {
  const rows = shapes.map((shape) => {
    const requests = requestsOf.get(shape) ?? 0;
    const info = `${requests} request${requests === 1 ? '' : 's'}`;
    const cells = targets.map((target) => expectedCell(shape, target));
    return `| ${[shape.site, shape.shape, info, ...cells].join(' | ')} |`;
  });
  return [
    '# Sites',
    '',
    "What the pinned yt-dlp and the service make of the formats in which popular sites serve media. No test contacts the sites: `proof/fault-site/src/double` imitates them, so the table doesn't show whether a site has changed. `npm run proof -- sites --newest` runs the same with the newest yt-dlp. Debian's version of March 2023, set-up's fallback without PyPI, reads only Vimeo and SoundCloud here.",
    '',
    "`npm run proof -- live` tries fifteen public pages at the sites themselves: `/api/info`, and the first seconds as MP3 and MP4, decoded. It prints a table with codes and times; a site that is down fails only its row. Once a week `.github/workflows/live.yml` runs it, and opens or updates one issue when a page that worked the week before doesn't any more. So far the command has run only with `--double`, where all seven sites worked; the pages in `proof/corpora/src/live-pages.ts` are untried.",
    '',
    'The test decodes each result completely: the pitch identifies the audio track (original 440 Hz, dub 660, compressed mix 550, audio description 880), the height the video. The YouTube double requires `n` and the signature, serves at most 10 MiB at once, and nothing before its ads are over.',
    '',
    'Each row is one extraction; `/api/info` counts its requests on an idle machine. `apps/video-dl/test/double/sites.test.ts` requests some outputs by day and all at night, and checks at night that the table is current (`UPDATE_DOCS=1` writes it).',
    '',
    '| site | what it gives | `/api/info` | MP3 | MP4 720 | MP4 1080 |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Without padding, because the formatter aligns columns, and without numbers of requests: on a busy machine, yt-dlp may repeat one. */
function comparable(markdown: string): string {
  return markdown
    .replace(/\d+ requests?/gu, 'requests')
    .replace(/ +/gu, ' ')
    .replace(/-{3,}/gu, '---')
    .replace(/ ?\| ?/gu, '|');
}

/** What a result contains. */
interface Measured {
  readonly seconds: number;
  /** Pixels; null without video. */
  readonly height: number | null;
  /** Frequency of the audio, a single tone, in Hz; null without audio. */
  readonly pitch: number | null;
}

async function measure(file: string): Promise<Measured> {
  const { streams, format } = await inspect(file, 'packets');
  const picture = streams.find(({ codec_type }) => codec_type === 'video');
  const hasSound = streams.some(({ codec_type }) => codec_type === 'audio');
  return {
    seconds: format.duration ?? 0,
    height: picture?.height ?? null,
    pitch: hasSound ? await pitchOf(file) : null,
  };
}
