import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createGuard } from '@media-services/egress-guard';
import { MediaRelay, type MediaSource, type RelaySession } from '../../dist/relay/index.js';
import { silentLogger } from '../../../../packages/egress-guard/test/support/servers.js';
import { Faults } from '../site/faults.js';
import { startSite, type Site } from '../site/server.js';
import { quickLimits } from './support/bench.js';

/** What ffmpeg makes of media through the relay, compared with what it makes of the same media read directly. */

const run = promisify(execFile);
const faults = new Faults();
let site: Site;
let relay: MediaRelay;

beforeAll(async () => {
  site = await startSite({ intercept: faults.intercept });
  const guard = createGuard({ allowedPrivateSources: [site.host] });
  relay = await MediaRelay.start({ guard, logger: silentLogger, limits: quickLimits });
});
afterAll(async () => {
  await relay[Symbol.asyncDispose]();
  await site.close();
});

/** Checksums of every packet of the best video and audio. */
async function packets(url: string, kind: MediaSource['kind']): Promise<string> {
  const manifest = kind === 'hls' ? ['-f', 'hls', '-allowed_extensions', 'ALL'] : [];
  const args = [
    '-nostdin',
    '-v',
    'error',
    '-protocol_whitelist',
    'http,tcp,crypto,data',
    ...manifest,
    '-i',
    url,
  ];
  const { stdout } = await run(
    process.env['FFMPEG_PATH'] ?? 'ffmpeg',
    [...args, '-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy', '-f', 'framemd5', '-'],
    { maxBuffer: 64 * 1024 ** 2 },
  );
  return stdout.replaceAll(/^#.*\n/gm, '');
}

interface Result {
  readonly session: RelaySession;
  readonly output: string | null;
}

async function relayed(path: string, kind: MediaSource['kind']): Promise<Result> {
  const session = relay.open({ signal: new AbortController().signal });
  const source: MediaSource = { url: `${site.url}${path}`, headers: {}, kind };
  const output = await packets(session.add(source), kind).catch(() => null);
  return { session, output };
}

const media: readonly (readonly [path: string, kind: MediaSource['kind']])[] = [
  ['/media/front.mp4', 'file'],
  ['/media/end.mp4', 'file'],
  ['/media/vp9.webm', 'file'],
  ['/media/h264.mkv', 'file'],
  ['/media/sound.mp3', 'file'],
  ['/media/sound.ogg', 'file'],
  ['/media/hls-ts/index.m3u8', 'hls'],
  ['/media/hls-fmp4/index.m3u8', 'hls'],
  ['/media/hls-aes/index.m3u8', 'hls'],
  ['/media/hls-byteranges/index.m3u8', 'hls'],
  ['/media/hls-master/index.m3u8', 'hls'],
  ['/media/dash-timeline/manifest.mpd', 'dash'],
  ['/media/dash-list/manifest.mpd', 'dash'],
];

describe('ffmpeg reads through the relay', () => {
  it.each(media)('every packet of %s', async (path, kind) => {
    const { session, output } = await relayed(path, kind);
    expect(session.failure).toBeUndefined();
    expect(output?.length).toBeGreaterThan(100);
    expect(output).toBe(await packets(`${site.url}${path}`, kind));
    expect(session.allReceived()).toBe(true);
    session.close();
  });
});

describe('ffmpeg reads a DASH template through the relay', () => {
  it('up to its last segment and not further', async () => {
    const { session, output } = await relayed('/media/dash-template/manifest.mpd', 'dash');
    expect(session.failure).toBeUndefined();
    const direct = await packets(`${site.url}/media/dash-template/manifest.mpd`, 'dash');
    const video = (text: string) => text.split('\n').filter((line) => line.startsWith('0,'));
    expect(video(output ?? '')).toEqual(video(direct));
    expect(video(direct)).toHaveLength(100);
    session.close();
  });
});

describe('ffmpeg reads fragments through the relay', () => {
  const names = ['init-stream0', ...[1, 2, 3, 4].map((number) => `chunk-stream0-0000${number}`)];
  const source = (faulty: string): MediaSource => ({
    url: `${site.url}/media/dash-template/manifest.mpd`,
    headers: {},
    kind: 'fragments',
    fragments: names.map((name, index) => ({
      url: `${site.url}/media/dash-template/${name}.m4s${index === 3 ? faulty : ''}`,
    })),
  });

  it.each(['', '?cut=2000&times=1', '?status=503&times=2'])('as one file (%s)', async (faulty) => {
    const session = relay.open({ signal: new AbortController().signal });
    const output = await packets(session.add(source(faulty)), 'fragments');
    expect(output.trim().split('\n')).toHaveLength(100);
    expect(session.allReceived()).toBe(true);
    session.close();
  });

  it.each(['?cut=2000', '?status=404'])(
    'and the session knows of a fragment that is lost (%s)',
    async (faulty) => {
      const session = relay.open({ signal: new AbortController().signal });
      await packets(session.add(source(faulty)), 'fragments').catch(() => undefined);
      expect(session.failure?.code).toBe('upstream_error');
      expect(session.allReceived()).toBe(false);
      session.close();
    },
  );
});

describe('ffmpeg gets every packet although', () => {
  it.each([
    ['/media/front.mp4?cut=100000&times=1', 'file'],
    ['/media/front.mp4?cutEvery=50000', 'file'],
    ['/media/front.mp4?cut=100000&times=1&ignoreRange', 'file'],
    ['/media/front.mp4?stall=100000&times=1', 'file'],
    ['/media/end.mp4?cut=100000&times=1', 'file'],
    ['/media/end.mp4?ignoreRange', 'file'],
    ['/media/end.mp4?cutEvery=50000', 'file'],
    ['/media/hls-ts/index.m3u8?segment=1&segmentFault=cut%3D20000%26times%3D1', 'hls'],
    ['/media/hls-ts/index.m3u8?segment=1&segmentFault=status%3D503%26times%3D1', 'hls'],
    ['/media/hls-aes/index.m3u8?segment=1&segmentFault=cut%3D20000%26times%3D1', 'hls'],
  ] as const)('%s', async (path, kind) => {
    const { session, output } = await relayed(path, kind);
    expect(session.failure).toBeUndefined();
    expect(output).toBe(await packets(`${site.url}${path.replace(/\?.*/, '')}`, kind));
    expect(session.allReceived()).toBe(true);
    session.close();
  });
});

describe('the session knows, whatever ffmpeg says, of', () => {
  it.each([
    ['/media/front.mp4?cut=100000', 'file'],
    ['/media/front.mp4?cutEvery=100000&etag=change', 'file'],
    ['/media/front.mp4?cutEvery=100000&wrongRange', 'file'],
    ['/media/front.mp4?stall=100000', 'file'],
    ['/media/front.mp4?expire=100000', 'file'],
    ['/media/front.mp4?length=1000', 'file'],
    ['/media/end.mp4?cut=100000', 'file'],
    ['/media/hls-ts/index.m3u8?segment=1&segmentFault=status%3D404', 'hls'],
    ['/media/hls-ts/index.m3u8?segment=2&segmentFault=cut%3D20000', 'hls'],
    ['/media/hls-fmp4/index.m3u8?segment=1&segmentFault=status%3D404', 'hls'],
    ['/media/hls-live/index.m3u8', 'hls'],
  ] as const)('%s', async (path, kind) => {
    const { session } = await relayed(path, kind);
    expect(session.failure).toBeDefined();
    expect(session.allReceived()).toBe(false);
    session.close();
  });

  it('a DASH segment that is missing', async () => {
    const name = '/media/dash-timeline/chunk-stream0-00002.m4s';
    faults.set(name, 'status=404');
    const { session } = await relayed('/media/dash-timeline/manifest.mpd', 'dash');
    expect(site.requests.some(({ path }) => path === name)).toBe(true);
    expect(session.failure?.code).toBe('upstream_error');
  });
});
