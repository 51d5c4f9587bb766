import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { made } from '@media-services/fault-site';
import { mp4Arguments } from '../../dist/ffmpeg/arguments.js';
import type { MediaSource } from '../../dist/relay/index.js';
import { startBench, type Bench } from './support/bench.js';

/** Sound and picture stay in step whatever the clocks of the segments do: every second there is a flash and a beep. */

const ffmpeg = process.env['FFMPEG_PATH'] ?? 'ffmpeg';
const tracks = {
  video: { action: 'copy', codec: 'h264' },
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
  /** Where its clock begins. */
  readonly clock?: number;
  /** Silence of which there is not even a sample. */
  readonly soundFrom?: number;
  readonly only?: 'v' | 'a';
  readonly options?: readonly string[];
  readonly file?: string;
}

/** Makes a clip and gives the files that it comes to, in order. */
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
    // Not in the source itself, which would begin at zero then.
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

/** Seconds at which flashes and beeps begin in what the service would make of a source. */
async function marks(url: string): Promise<{ flashes: number[]; beeps: number[]; frames: number }> {
  const session = bench.session();
  const source: MediaSource = { url, headers: {}, kind: 'hls' };
  const inputs = await session.add(source);
  const file = join(folder, `${counter++}.mp4`);
  const args = mp4Arguments(inputs, tracks, { title: 'x' }, {}).with(-1, file);
  await execa(ffmpeg, args, { env: session.environment });
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

/** Each beep has its flash, within two frames of the video. */
function expectInStep({ flashes, beeps }: { flashes: number[]; beeps: number[] }, count: number): void {
  expect(beeps.length).toBeGreaterThanOrEqual(count);
  // The last silence may end with the file instead of a beep.
  const real = beeps.filter((beep) => beep < (flashes.at(-1) ?? 0) + 0.5);
  expect(real.length).toBeGreaterThanOrEqual(count - 1);
  for (const beep of real) {
    expect(Math.min(...flashes.map((flash) => Math.abs(flash - beep)))).toBeLessThan(0.08);
  }
}

const discontinuity = { tag: '#EXT-X-DISCONTINUITY' };
const fmp4 = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4'];

describe('sound and picture are in step', () => {
  it.each([
    ['a clock that begins anew', [0, 0, 0], discontinuity],
    ['one that begins anew without a word', [0, 0, 0], {}],
    ['one that goes back and forth', [5000, 10, 90_000], discontinuity],
    ['one that goes on though a discontinuity is announced', [0, 3, 6], discontinuity],
    ['one that runs over (33 bits)', [95_441, 95_444, 95_447], {}],
  ])('after %s', async (_what, clocks, options) => {
    const parts = await Promise.all(
      clocks.map(async (clock) => (await clip({ clock })).at(0) ?? Buffer.alloc(0)),
    );
    const found = await marks(playlist(parts, options));
    expect(found.frames).toBe(225);
    expectInStep(found, 7);
  });

  it('where the sound begins late, and again late after a discontinuity', async () => {
    const [part = Buffer.alloc(0)] = await clip({ soundFrom: 1.5 });
    const found = await marks(playlist([part, part], discontinuity));
    expect(found.frames).toBe(150);
    expectInStep(found, 2);
  });

  it('where the clocks of fragmented MP4 begin anew', async () => {
    const [whole = Buffer.alloc(0)] = await clip({ options: fmp4, file: 'clip.mp4' });
    const at = whole.indexOf('moof') - 4;
    const map = [`#EXT-X-MAP:URI="${put(whole.subarray(0, at))}"`];
    const end = whole.lastIndexOf('mfra') - 4;
    const part = whole.subarray(at, end);
    const found = await marks(playlist([part, part, part], { ...discontinuity, before: map }));
    expect(found.frames).toBe(225);
    expectInStep(found, 7);
  });

  it('where they come in playlists of their own, whose clocks begin apart', async () => {
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
