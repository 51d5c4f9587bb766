import { execFile } from 'node:child_process';
import { ffmpegUnderTest } from '../support/media-tools.js';
import { promisify } from 'node:util';
import { childEnvironment } from '@media-services/processes';
import { createGuard } from '@media-services/egress-guard';
import { inputArguments } from '../../src/ffmpeg/inputs.js';
import { MediaRelay } from '../../src/relay/media-relay.js';
import type { RelaySession } from '../../src/relay/session.js';
import type { MediaSource } from '../../src/upstream/media-source.js';
import { silentLogger } from '../../../../packages/egress-guard/test/support/servers.js';
import { Faults, type Site, startSite } from '@media-services/fault-site';
import type { ParserPool } from '../../src/parser-process/parser-pool.js';
import { startParsers } from '../support/service.js';
import { quickLimits } from './support/bench.js';

/** Compares ffmpeg's output for media through the relay with its output for the same media read directly. */

const run = promisify(execFile);
const faults = new Faults();
let site: Site;
let relay: MediaRelay;
let parsers: ParserPool;

beforeAll(async () => {
  site = await startSite({ intercept: faults.intercept });
  const guard = createGuard({ allowedPrivateSources: [site.host] });
  parsers = startParsers();
  relay = await MediaRelay.start({ guard, logger: silentLogger, parsers, limits: quickLimits });
});
afterAll(async () => {
  await relay[Symbol.asyncDispose]();
  await parsers[Symbol.asyncDispose]();
  await site.close();
});

/** Checksums of every packet of the best video and audio. */
async function packets(
  inputs: readonly string[],
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const maps = count === 1 ? ['0:v:0?', '0:a:0?'] : ['0:v:0', '1:a:0'];
  const { stdout } = await run(
    ffmpegUnderTest ?? 'ffmpeg',
    [
      ...['-nostdin', '-v', 'error', ...inputs, ...maps.flatMap((map) => ['-map', map])],
      ...['-c', 'copy', '-f', 'framemd5', '-'],
    ],
    { maxBuffer: 64 * 1024 ** 2, env: childEnvironment(env) },
  );
  return stdout.replaceAll(/^#.*\n/gm, '');
}

/** Expects the same packets in each stream, at the same times except for rounding (90 ticks are a millisecond). */
function expectSamePackets(actual: string | null, expected: string): void {
  for (const stream of ['0', '1']) {
    const ours = packetsOf(actual ?? '', stream);
    const theirs = packetsOf(expected, stream);
    expect(ours.map(({ hash }) => hash)).toEqual(theirs.map(({ hash }) => hash));
    const apart = ours.map(({ time }, index) => Math.abs(time - (theirs[index]?.time ?? NaN)));
    expect(Math.max(0, ...apart)).toBeLessThanOrEqual(90);
  }
}

function packetsOf(text: string, stream: string): { hash: string; time: number }[] {
  return text.split('\n').flatMap((line) => {
    const [number, , time, , , hash = ''] = line.split(',').map((field) => field.trim());
    return number === stream ? [{ hash, time: Number(time) }] : [];
  });
}

/** ffmpeg's output when it reads the media directly, including the manifest. */
async function direct(path: string, kind: MediaSource['kind']): Promise<string> {
  const manifest = kind === 'hls' ? ['-f', 'hls', '-allowed_extensions', 'ALL'] : [];
  const whitelist = ['-protocol_whitelist', 'http,tcp,crypto,data'];
  return packets([...whitelist, ...manifest, '-i', `${site.url}${path}`], 1);
}

interface Result {
  readonly session: RelaySession;
  readonly output: string | null;
}

async function relayed(path: string, kind: MediaSource['kind']): Promise<Result> {
  const session = relay.open({ signal: new AbortController().signal, client: 'test' });
  const source = { url: `${site.url}${path}`, headers: {}, kind };
  const tracks = (['video', 'audio'] as const).map((track, index) => ({ id: `${index}`, kind: track }));
  const sources =
    kind === 'dash'
      ? tracks.map((track) => ({ ...source, wanted: { ...track, bandwidth: null } }))
      : [source];
  return { session, output: await readThrough(session, sources) };
}

async function readThrough(session: RelaySession, sources: readonly MediaSource[]): Promise<string | null> {
  try {
    const inputs = (await Promise.all(sources.map((source) => session.add(source)))).flat();
    return await packets(inputArguments(inputs, {}), inputs.length, session.environment);
  } catch {
    // The session has the error.
    return null;
  }
}

type Source = readonly [path: string, kind: MediaSource['kind']];

const media: readonly Source[] = [
  ['/media/end.mp4', 'file'],
  ['/media/vp9.webm', 'file'],
  ['/media/hls-ts/index.m3u8', 'hls'],
  ['/media/hls-fmp4/index.m3u8', 'hls'],
  ['/media/hls-aes/index.m3u8', 'hls'],
  ['/media/hls-byteranges/index.m3u8', 'hls'],
  ['/media/front.mp4', 'file'],
  ['/media/h264.mkv', 'file'],
  ['/media/sound.mp3', 'file'],
  ['/media/sound.ogg', 'file'],
];

describe('ffmpeg reads through the relay', () => {
  it.each(media)('every packet of %s', async (path, kind) => {
    const { session, output } = await relayed(path, kind);
    expect(session.failure).toBeUndefined();
    expect(output?.length).toBeGreaterThan(100);
    expectSamePackets(output, await direct(path, kind));
    expect(session.allReceived()).toBe(true);
    session.close();
  });
});

describe('ffmpeg reads separate audio and video', () => {
  // When ffmpeg reads these directly, it loses packets or picks another variant.
  it.each<Source>([
    ['/media/hls-master/index.m3u8', 'hls'],
    ['/media/dash-template/manifest.mpd', 'dash'],
    ['/media/dash-timeline/manifest.mpd', 'dash'],
    ['/media/dash-list/manifest.mpd', 'dash'],
  ])('of %s, all of them', async (path, kind) => {
    const { session, output } = await relayed(path, kind);
    expect(session.failure).toBeUndefined();
    expect(packetsOf(output ?? '', '0')).toHaveLength(100);
    expect(packetsOf(output ?? '', '1').length).toBeGreaterThanOrEqual(172);
    expect(session.allReceived()).toBe(true);
    session.close();
  });
});

describe('ffmpeg gets every packet despite', () => {
  it.each<Source>([
    ['/media/front.mp4?cut=100000&times=1&ignoreRange', 'file'],
    ['/media/front.mp4?stall=100000&times=1', 'file'],
    ['/media/end.mp4?ignoreRange', 'file'],
    ['/media/end.mp4?cutEvery=50000', 'file'],
    ['/media/hls-ts/index.m3u8?segment=1&segmentFault=status%3D503%26times%3D1', 'hls'],
    ['/media/hls-aes/index.m3u8?segment=1&segmentFault=cut%3D20000%26times%3D1', 'hls'],
    ['/media/front.mp4?cut=100000&times=1', 'file'],
    ['/media/front.mp4?cutEvery=50000', 'file'],
    ['/media/end.mp4?cut=100000&times=1', 'file'],
    ['/media/hls-ts/index.m3u8?segment=1&segmentFault=cut%3D20000%26times%3D1', 'hls'],
  ])('%s', async (path, kind) => {
    const { session, output } = await relayed(path, kind);
    expect(session.failure).toBeUndefined();
    expectSamePackets(output, await direct(path.replace(/\?.*/, ''), kind));
    expect(session.allReceived()).toBe(true);
    session.close();
  });
});

describe('the session reports, whatever ffmpeg says,', () => {
  it.each<Source>([
    ['/media/front.mp4?cutEvery=100000&etag=change&modified=change', 'file'],
    ['/media/front.mp4?cutEvery=100000&wrongRange', 'file'],
    ['/media/front.mp4?stall=100000', 'file'],
    ['/media/front.mp4?expire=100000', 'file'],
    ['/media/front.mp4?length=1000', 'file'],
    ['/media/end.mp4?cut=100000', 'file'],
    ['/media/hls-ts/index.m3u8?segment=2&segmentFault=cut%3D20000', 'hls'],
    ['/media/hls-fmp4/index.m3u8?segment=1&segmentFault=status%3D404', 'hls'],
    ['/media/hls-live/index.m3u8', 'hls'],
    ['/media/front.mp4?cut=100000', 'file'],
    ['/media/hls-ts/index.m3u8?segment=1&segmentFault=status%3D404', 'hls'],
  ])('%s', async (path, kind) => {
    const { session } = await relayed(path, kind);
    expect(session.failure).toBeDefined();
    expect(session.allReceived()).toBe(false);
    session.close();
  });

  it('a missing DASH segment', async () => {
    const name = '/media/dash-timeline/chunk-stream0-00002.m4s';
    faults.set(name, 'status=404');
    const { session } = await relayed('/media/dash-timeline/manifest.mpd', 'dash');
    expect(site.requests.some(({ path }) => path === name)).toBe(true);
    expect(session.failure?.code).toBe('video_not_found');
  });
});
