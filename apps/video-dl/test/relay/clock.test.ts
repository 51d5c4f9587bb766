import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { ffmpegUnderTest } from '../support/media-tools.js';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { made } from '@media-services/fault-site';
import { mp4Arguments } from '../../src/ffmpeg/arguments.js';
import type { MediaSource } from '../../src/upstream/media-source.js';
import { startBench, type Bench } from './support/bench.js';

/** Checks that audio and video stay in sync whatever the segments' clocks do, with a flash and a beep every second. */

const ffmpeg = ffmpegUnderTest ?? 'ffmpeg';
const tracks = {
  video: { action: 'copy', codec: 'h264', maxShortSide: 720 },
  audio: { action: 'copy', codec: 'aac' },
} as const;

let bench: Bench;
let folder: string;
let counter = 0;

beforeAll(async () => {
  bench = await startBench();
  folder = await mkdtemp(join(tmpdir(), 'relay-clock-'));
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

interface Clip {
  readonly seconds?: number;
  /** Start of its clock. */
  readonly clock?: number;
  /** Seconds without any audio samples. */
  readonly soundFrom?: number;
  readonly only?: 'v' | 'a';
  readonly options?: readonly string[];
  readonly file?: string;
}

/** Generates a clip and returns its files in order. */
async function clip({
  seconds = 3,
  clock = 0,
  soundFrom = 0,
  only,
  options = [],
  file = 'clip.ts',
}: Clip): Promise<Buffer[]> {
  const picture = `color=black:size=160x120:rate=25:duration=${seconds},drawbox=t=fill:c=white:enable='lt(mod(t,1),0.2)'`;
  const sound = `aevalsrc='if(lt(mod(t,1),0.2),0.5*sin(6283*t),0)':s=48000:d=${seconds}`;
  const args = [
    ...['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', sound],
    ...(only === undefined ? ['-map', '0', '-map', '1'] : ['-map', only === 'v' ? '0' : '1']),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '25', '-pix_fmt', 'yuv420p'],
    // As an output option: in the source itself, the clock would start at zero.
    ...(soundFrom > 0 ? ['-af', `atrim=start=${soundFrom}`] : []),
    ...['-c:a', 'aac', '-output_ts_offset', String(clock), ...options, file],
  ];
  const clips = await made('clip', { args });
  const names = (await readdir(clips)).filter((name) => /\.(?:ts|mp4|m4s)$/.test(name)).toSorted();
  return Promise.all(names.map(async (name) => readFile(join(clips, name))));
}

function put(body: string | Buffer): string {
  const path = `/clock/${counter++}`;
  bench.on(path, (_request, response) => void response.end(body));
  return `${bench.site}${path}`;
}

function playlist(
  parts: readonly Buffer[],
  { tag = '', before = [] as readonly string[], seconds = '3.0' } = {},
): string {
  const lines = parts.flatMap((part) => [tag, `#EXTINF:${seconds},`, put(part)]);
  return put(['#EXTM3U', ...before, ...lines, '#EXT-X-ENDLIST', ''].filter((line) => line !== '').join('\n'));
}

/** Start times of the flashes and beeps in the stream that the service would generate, in seconds. */
async function marks(url: string): Promise<{ flashes: number[]; beeps: number[]; frames: number }> {
  const session = bench.session();
  const source: MediaSource = { url, headers: {}, kind: 'hls' };
  const inputs = await session.add(source);
  const file = join(folder, `${counter++}.mp4`);
  const args = mp4Arguments(inputs, tracks, { title: 'x' }, {}).with(-1, file);
  // As the service does: a static build crashes in the system's iconv modules.
  await execa(ffmpeg, args, { env: { ...session.environment, GCONV_PATH: '/nonexistent' } });
  expect(session.failure).toBeUndefined();
  expect(session.allReceived()).toBe(true);
  session.close();
  const { stderr } = await execa(ffmpeg, [
    ...['-hide_banner', '-nostats', '-i', file, '-vf', 'blackdetect=d=0.1:pix_th=0.2'],
    ...['-af', 'silencedetect=noise=-25dB:d=0.3', '-f', 'null', '-'],
  ]);
  const times = (pattern: RegExp) => [...stderr.matchAll(pattern)].map(([, time]) => Number(time));
  const frames = times(/frame= *(\d+)/g).at(-1) ?? 0;
  return { flashes: times(/black_end:([\d.]+)/g), beeps: times(/silence_end: ([\d.]+)/g), frames };
}

/** Expects each beep to match a flash within two video frames. */
function expectInStep({ flashes, beeps }: { flashes: number[]; beeps: number[] }, count: number): void {
  expect(beeps.length).toBeGreaterThanOrEqual(count);
  // The last silence may end with the file rather than a beep.
  const real = beeps.filter((beep) => beep < (flashes.at(-1) ?? 0) + 0.5);
  expect(real.length).toBeGreaterThanOrEqual(count - 1);
  for (const beep of real) {
    expect(Math.min(...flashes.map((flash) => Math.abs(flash - beep)))).toBeLessThan(0.08);
  }
}

const discontinuity = { tag: '#EXT-X-DISCONTINUITY' };
const fmp4 = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4'];

describe('audio and video are in sync', () => {
  it.each([
    ['a clock that restarts', [0, 0, 0], discontinuity],
    ['a clock that restarts unannounced', [0, 0, 0], {}],
    ['a clock that jumps back and forth', [5000, 10, 90_000], discontinuity],
    ['a clock that continues despite an announced discontinuity', [0, 3, 6], discontinuity],
    ['a clock that wraps (33 bits)', [95_441, 95_444, 95_447], {}],
  ])('with %s', async (_what, clocks, options) => {
    const parts = await Promise.all(
      clocks.map(async (clock) => (await clip({ clock })).at(0) ?? Buffer.alloc(0)),
    );
    const found = await marks(playlist(parts, options));
    expect(found.frames).toBe(225);
    expectInStep(found, 7);
  });

  it('when audio starts late, and again after a discontinuity', async () => {
    const [part = Buffer.alloc(0)] = await clip({ soundFrom: 1.5 });
    const found = await marks(playlist([part, part], discontinuity));
    expect(found.frames).toBe(150);
    expectInStep(found, 2);
  });

  it('when the clocks of fragmented MP4 restart', async () => {
    const [whole = Buffer.alloc(0)] = await clip({ options: fmp4, file: 'clip.mp4' });
    const at = whole.indexOf('moof') - 4;
    const map = [`#EXT-X-MAP:URI="${put(whole.subarray(0, at))}"`];
    const end = whole.lastIndexOf('mfra') - 4;
    const part = whole.subarray(at, end);
    const found = await marks(playlist([part, part, part], { ...discontinuity, before: map }));
    expect(found.frames).toBe(225);
    expectInStep(found, 7);
  });

  it('when they come in separate playlists with different clocks', async () => {
    const video = playlist(await clip({ clock: 20, only: 'v' }));
    const audio = playlist(await clip({ clock: 20, only: 'a', soundFrom: 0.5 }), { seconds: '2.5' });
    const master = put(
      [
        '#EXTM3U',
        `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",DEFAULT=YES,URI="${audio}"`,
        '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"',
        video,
        '',
      ].join('\n'),
    );
    const found = await marks(master);
    expect(found.frames).toBe(75);
    expectInStep(found, 2);
  });
});
