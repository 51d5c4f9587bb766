import { Double } from '@media-services/fault-site/double';
import type { VideoName } from '@media-services/fault-site/double';
import { open, receive } from '../deliver/support/receive.js';
import type { TestService } from '../support/service.js';
import { startBehind, waitedSeconds, watchPage } from './shapes.js';

let double: Double;
let service: TestService;

beforeAll(async () => {
  double = await Double.start();
  service = await startBehind(double);
});

beforeEach(() => void double.requests.splice(0));

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
});

const streamOf = (name: VideoName) => `${service.url}/api/stream?url=${encodeURIComponent(watchPage(name))}`;

/** Requests and times of one stream. */
async function extractionsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = service.context.extraction.extractions;
  await work();
  return service.context.extraction.extractions - before;
}

it.each([
  ['files', 'ad-3', 3],
  ['files', 'ad-5', 5],
  ['HLS', 'adhls', 3],
] as const)(
  'waits until the advertisements are over before it asks for %s: %s',
  async (_what, name, most) => {
    const extractions = await extractionsDuring(async () => {
      const { status, complete, headers } = await receive(streamOf(name));
      expect({ status, complete }).toEqual({ status: 200, complete: true });
      // The site counts from its response; yt-dlp adds a second.
      expect(waitedSeconds(headers)).toBeLessThan(most + 2);
    });
    expect(extractions).toBe(1);
    expect(double.requests.filter(({ status }) => status >= 400)).toEqual([]);
  },
);

it('gives up after one renewal if the media servers reject permanently', async () => {
  const extractions = await extractionsDuring(async () => {
    const { response } = await open(streamOf('refused'));
    response.resume();
    expect(response.statusCode).toBe(502);
  });
  expect(extractions).toBe(2);
  const refused = double.requests.filter(({ status }) => status === 403);
  expect(refused.length).toBeLessThanOrEqual(6);
});

it('fetches the player once for any number of videos', async () => {
  for (const number of [1, 2, 3]) {
    const { status } = await service.info(watchPage('plain', number));
    expect(status).toBe(200);
  }
  const scripts = double.requests.filter(({ path }) => path.endsWith('/base.js'));
  expect(scripts.length).toBeLessThanOrEqual(1);
});

it('falls back to a playlist if the player cannot be solved, and reports it in health', async () => {
  const { status } = await service.info(watchPage('pzlhls'));
  expect(status).toBe(200);
  expect(service.context.extraction.degradation).toContain('player script');
});
