import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { receive } from '../stream/support/receive.js';
import { interpreters } from '../support/pythons.js';
import type { TestService } from '../support/service.js';
import { type Shape, shapes, startBehind } from './shapes.js';
import { Double, mediaSeconds, tones } from '@media-services/fault-site/double';
import { measure, type Measured } from './measure.js';
import { renderTable, withoutPadding, type Cells } from './table.js';

const docs = fileURLToPath(new URL('../../../../docs/internals/sites.md', import.meta.url));
/** How many seconds longer than the video a result may be: encoders pad the last frame, and MP3 encoders also the first. */
const paddingSeconds = 0.1;

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

async function measured(page: string, target: Target): Promise<Measured> {
  const { status, complete, body } = await receive(
    `${service.url}${paths[target]}url=${encodeURIComponent(page)}`,
  );
  if (status !== 200) throw new Error(body.toString());
  expect(complete).toBe(true);
  const file = join(folder, `result.${target.slice(0, 3)}`);
  await writeFile(file, body);
  return measure(file);
}

function expectWhole({ seconds, pitch }: Measured): void {
  expect(seconds).toBeGreaterThanOrEqual(mediaSeconds);
  expect(seconds).toBeLessThan(mediaSeconds + paddingSeconds);
  expect(pitch).toBe(tones.original);
}

const documented = new Map<Shape, Partial<Cells>>();
const requested = (requests: number) => `${requests} request${requests === 1 ? '' : 's'}`;

const [chosen, ...others] = await interpreters();
const runs = [
  { ...chosen, readable: shapes },
  ...others.map((other) => ({ ...other, readable: shapes.filter(({ isOld }) => isOld) })),
];

describe.each(runs)('with yt-dlp $ytDlp', ({ python, readable }) => {
  const results = python === chosen?.python ? documented : new Map<Shape, Partial<Cells>>();
  const note = (shape: Shape, cells: Partial<Cells>) =>
    results.set(shape, { ...results.get(shape), ...cells });

  beforeAll(async () => {
    service = await startBehind(double, { ...(python && { YTDLP_PYTHON: python }) });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  describe.each(readable)('$site: $shape', (shape) => {
    const { page, heights } = shape;
    let extractions: number;

    beforeAll(() => {
      extractions = service.context.extraction.extractions;
      double.requests.splice(0);
    });

    it('lists the available downloads', async () => {
      const { status, body } = await service.info(page);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { duration: mediaSeconds, isLive: false },
      });
      note(shape, { info: requested(requestsSince()) });
    });

    it('MP3: all of the original audio', async () => {
      const result = await measured(page, 'mp3');
      expectWhole(result);
      expect(result.height).toBeNull();
      note(shape, { mp3: `${result.pitch} Hz` });
    });

    it.each([
      ['mp4-720', 0],
      ['mp4-1080', 1],
    ] as const)('%s: the right video with all of the original audio', async (target, place) => {
      if (heights === null) {
        const { status } = await service.get('/api/stream/video', { url: page });
        expect(status).toBe(422);
        note(shape, { [target]: '422 no_media' });
        return;
      }
      const result = await measured(page, target);
      expectWhole(result);
      expect(result.height).toBe(heights[place]);
      note(shape, { [target]: `${result.height} px, ${result.pitch} Hz` });
    });

    it('extracts only once', () => {
      expect(service.context.extraction.extractions - extractions).toBe(1);
    });
  });
});

// The numbers are for the pinned yt-dlp; another version may send other requests.
if (process.env['YTDLP_PYTHON'] === undefined) {
  it('matches the results in the documentation', async () => {
    const table = renderTable(shapes, documented);
    if (process.env['UPDATE_DOCS'] === '1') await writeFile(docs, table);
    expect(withoutPadding(await readFile(docs, 'utf8'))).toBe(withoutPadding(table));
  });
}
