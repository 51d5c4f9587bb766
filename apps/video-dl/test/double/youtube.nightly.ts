import { treeMemoryBytes } from '@media-services/processes';
import { Double } from '@media-services/fault-site/double';
import { readConfig } from '../../src/config.js';
import { open, receive } from '../deliver/support/receive.js';
import type { TestService } from '../support/service.js';
import { startBehind, waitedSeconds, watchPage } from './shapes.js';

let double: Double;
let service: TestService;

beforeEach(async () => {
  // The same size as on the real site.
  double = await Double.start({ playerBytes: 2_650_000 });
  service = await startBehind(double);
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
});

const streamOf = (page: string, path = '/api/stream?') =>
  `${service.url}${path}url=${encodeURIComponent(page)}`;

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const tell = (text: string) => process.stdout.write(`${text}\n`);
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

it('waits for 15 s of ads, no longer, and extracts once', async () => {
  const ms = await millisecondsOf(async () => {
    const { status, complete, headers } = await receive(streamOf(watchPage('ad-15')));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(waitedSeconds(headers)).toBeLessThan(17);
  });
  expect(service.context.extraction.extractions).toBe(1);
  expect(double.requests.filter(({ status }) => status >= 400)).toEqual([]);
  tell(`15 s of advertisements: the whole MP3 after ${seconds(ms)}`);
});

it('gives up soon when media is rejected permanently', async () => {
  // Not the engine's first extraction, which parses the player.
  await service.info(watchPage('plain'));
  const ms = await millisecondsOf(async () => {
    const { response } = await open(streamOf(watchPage('refused')));
    response.resume();
    expect(response.statusCode).toBe(502);
  });
  tell(`refused for good: an error after ${seconds(ms)}`);
});

it('parses the player once for twenty videos; from the third on, they take at most half as long as the first', async () => {
  const infoMs: number[] = [];
  for (let number = 1; number <= 20; number += 1) {
    infoMs.push(
      await millisecondsOf(async () => {
        expect(await service.info(watchPage('plain', number))).toMatchObject({ status: 200 });
      }),
    );
  }
  const scripts = double.requests.filter(({ path }) => path.endsWith('/base.js'));
  expect(scripts).toHaveLength(1);
  const [first = NaN, , ...later] = infoMs;
  const median = later.toSorted((a, b) => a - b)[Math.floor(later.length / 2)] ?? NaN;
  tell(
    `/api/info of twenty videos: the first ${seconds(first)}, median from the third on ${seconds(median)}`,
  );
  expect(median / first).toBeLessThanOrEqual(0.5);

  const firstByteMs = await millisecondsOf(async () => {
    const { response, request } = await open(
      streamOf(watchPage('plain', 21), '/api/stream/video?fmt=mp4-1080&'),
    );
    await new Promise((resolve) => response.once('data', resolve));
    response.on('error', () => undefined);
    request.destroy();
  });
  tell(`first byte of 1080p, page unknown, player known: ${seconds(firstByteMs)}`);
});

it('solves a player well within ENGINE_MEMORY_MAX_BYTES', async () => {
  const [engine = NaN] = service.context.engine.pids();
  let peak = 0;
  const look = async (): Promise<void> => {
    peak = Math.max(peak, await treeMemoryBytes(engine));
  };
  const watching = setInterval(() => void look(), 20);
  try {
    expect(await service.info(watchPage('plain'))).toMatchObject({ status: 200 });
  } finally {
    clearInterval(watching);
  }
  tell(`engine with deno while it solves: ${Math.round(peak / 2 ** 20)} MiB`);
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(0.75 * readConfig({}).ENGINE_MEMORY_MAX_BYTES);
});
