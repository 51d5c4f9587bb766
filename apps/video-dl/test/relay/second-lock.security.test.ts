import { execFile } from 'node:child_process';
import { ffmpegUnderTest } from '../support/media-tools.js';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inputArguments, inputOptions } from '../../src/ffmpeg/inputs.js';
import { childEnvironment } from '@media-services/processes';
import { startMediaProcess } from '../../src/ffmpeg/process.js';
import type { RelaySession } from '../../src/relay/session.js';
import type { MediaSource } from '../../src/upstream/media-source.js';
import { media } from '@media-services/fault-site';
import { hash, readInput, requestInput, startBench, type Bench } from './support/bench.js';

/**
 * A hostile page, and an internal service that must never receive a request from us. Two locks
 * protect it, each tested alone: ffmpeg never sees a manifest, and if it did, it could reach nothing.
 */

const ffmpeg = ffmpegUnderTest ?? 'ffmpeg';
let bench: Bench;
let canary: { url: string; asked: string[]; close(): Promise<void> };
let segment: Buffer;

beforeAll(async () => {
  bench = await startBench();
  segment = await readFile(`${await media('hls-ts')}/index0.ts`);
  canary = await startCanary();
});
afterAll(async () => {
  await canary.close();
  await bench[Symbol.asyncDispose]();
});
beforeEach(() => void (canary.asked.length = 0));

/** An internal service on loopback that the guard doesn't permit. */
async function startCanary(): Promise<typeof canary> {
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    asked.push(incoming.url ?? '');
    response.end(segment);
  });
  server.on('connection', () => asked.push('connection'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, asked, close };
}

function put(path: string, body: string | Buffer): string {
  bench.on(path, (_request, response) => void response.end(body));
  return `${bench.site}${path}`;
}

interface Run {
  readonly stdout: Buffer;
  readonly code: number | null;
}

/** Has ffmpeg read all inputs of a session, like the service or with other options. */
async function run(session: RelaySession, inputs: readonly string[]): Promise<Run> {
  await using child = await startMediaProcess({
    file: ffmpeg,
    args: ['-nostdin', '-v', 'error', ...inputs, '-c', 'copy', '-f', 'mpegts', 'pipe:1'],
    signal: AbortSignal.timeout(120_000),
    environment: session.environment,
  });
  const parts: Buffer[] = [];
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) parts.push(chunk);
  return { stdout: Buffer.concat(parts), code: (await child.exited).code };
}

const playlist = (...lines: string[]) =>
  ['#EXTM3U', '#EXT-X-TARGETDURATION:4', '#EXT-X-MEDIA-SEQUENCE:0', ...lines, '#EXT-X-ENDLIST', ''].join(
    '\n',
  );

/** Input that ffmpeg's parsers read differently from all others. Each once reached the internal service. */
const hostileManifests: readonly (readonly [
  string,
  MediaSource['kind'],
  (evil: string, good: string) => string,
])[] = [
  ['a NUL in EXTINF', 'hls', (evil, good) => playlist(`#EXTINF:4,\0\n${evil}`, '#EXTINF:4,', good)],
  ['a NUL before a URL', 'hls', (evil, good) => playlist(`#EXTINF:4,x\0${evil}`, good)],
  [
    'a NUL in PROGRAM-DATE-TIME',
    'hls',
    (evil, good) => playlist(`#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\0\n${evil}`, '#EXTINF:4,', good),
  ],
  [
    'a URI outside of the quotes of MAP',
    'hls',
    (evil, good) => playlist(`#EXT-X-MAP:A=b URI="${evil}" ,C="\\"`, '#EXTINF:4,', good),
  ],
  [
    'a URI outside of the quotes of KEY',
    'hls',
    (evil, good) => playlist(`#EXT-X-KEY:METHOD=AES-128,A=b URI="${evil}" ,C="\\"`, '#EXTINF:4,', good),
  ],
  ['a carriage return in a line', 'hls', (evil, good) => playlist(`#EXTINF:4,\r${evil}`, '#EXTINF:4,', good)],
  ['the URL of a segment itself', 'hls', (evil) => playlist('#EXTINF:4,', evil)],
  ['a variant', 'hls', (evil) => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${evil}\n`],
  ...['baseurl', 'BASEURL', 'BaseURL'].map(
    (name) =>
      [
        `a DASH <${name}>`,
        'dash' as const,
        (evil: string, good: string) =>
          `<MPD type="static" mediaPresentationDuration="PT4S"><Period><AdaptationSet mimeType="video/mp4">
           <Representation id="1" bandwidth="1"><${name}>${evil}/</${name}><BaseURL>${good}</BaseURL>
           <SegmentTemplate media="$Number$" duration="4"/></Representation></AdaptationSet></Period></MPD>`,
      ] as const,
  ),
];

describe('a hostile manifest', () => {
  it.each(hostileManifests)('with %s reaches no internal service', async (_what, kind, manifest) => {
    const good = put('/good.ts', segment);
    const session = bench.session();
    const source: MediaSource = {
      url: put('/evil.m3u8', manifest(`${canary.url}/x.ts`, good)),
      headers: {},
      kind,
      ...(kind === 'dash' && { wanted: { id: '1', kind: 'video', bandwidth: null } }),
    };
    const inputs = await session.add(source).catch(() => []);
    if (inputs.length > 0) await run(session, inputArguments(inputs, {}));
    expect(canary.asked).toEqual([]);
    session.close();
  });

  it.each(hostileManifests)(
    'with %s, served as a file, is rejected by ffmpeg',
    async (_what, _kind, manifest) => {
      const session = bench.session();
      const inputs = await session.add(fileOf(manifest(`${canary.url}/x.ts`, put('/good.ts', segment))));
      const { code, stdout } = await run(session, inputArguments(inputs, {}));
      expect([code === 0, stdout.length]).toEqual([false, 0]);
      expect(canary.asked).toEqual([]);
      session.close();
    },
  );
});

function fileOf(manifest: string): MediaSource {
  return { url: put('/evil', manifest), headers: {}, kind: 'file' };
}

describe('the second lock, with the first removed', () => {
  // ffmpeg itself reads the manifest, with all its demuxers and protocols.
  const unlocked = [
    '-protocol_whitelist',
    'file,http,https,tcp,tls,crypto,data,httpproxy',
    '-allowed_extensions',
    'ALL',
  ];

  it.each(hostileManifests)('stops %s', async (_what, kind, manifest) => {
    const session = bench.session();
    const [input] = await session.add(fileOf(manifest(`${canary.url}/x.ts`, put('/good.ts', segment))));
    const options = kind === 'hls' ? [...unlocked, '-f', 'hls'] : ['-f', 'dash'];
    const { stdout } = await run(session, [...options, '-i', input?.url ?? '']);
    expect(stdout.includes(segment.subarray(0, 188))).toBe(false);
    expect(canary.asked).toEqual([]);
    session.close();
  });

  it('is what stops it: without the proxy, ffmpeg reaches the service', async () => {
    const session = bench.session();
    const { environment } = session;
    const url = put('/open.m3u8', playlist('#EXTINF:4,', `${canary.url}/x.ts`));
    const args = [...unlocked, '-f', 'hls', '-i', url, '-c', 'copy', '-f', 'null', '-'];
    const spawn = promisify(execFile);
    // imageio-ffmpeg's 7.0.2 crashes on the segment.
    await spawn(ffmpeg, args, { env: childEnvironment() }).catch(() => undefined);
    expect(canary.asked).toContain('/x.ts');
    canary.asked.length = 0;
    await spawn(ffmpeg, args, { env: childEnvironment(environment) }).catch(() => undefined);
    expect(canary.asked).toEqual([]);
    // A request for another host proves an attack, so the output is discarded.
    expect(session.failure?.code).toBe('forbidden_address');
    session.close();
  });

  it.each(['concat', 'ffmetadata', 'image2', 'hls', 'dash', 'sdp', 'rtsp', 'tee', 'lavfi'])(
    'does not let the content choose %s',
    (demuxer) => {
      const allowed = inputOptions()
        .at(inputOptions().indexOf('-format_whitelist') + 1)
        ?.split(',');
      expect(allowed).not.toContain(demuxer);
    },
  );
});

describe('what a session serves', () => {
  it('appears in no command line', async () => {
    const session = bench.session();
    const inputs = await session.add({ url: put('/good.ts', segment), headers: {}, kind: 'file' });
    const token = new URL(session.environment['http_proxy'] ?? '').password;
    expect(token.length).toBeGreaterThan(30);
    expect(inputArguments(inputs, {}).join(' ')).not.toContain(token);
    expect((await readInput(session, inputs[0]?.url ?? '')).body.equals(segment)).toBe(true);
    session.close();
  });

  it('requires its token, and is not available to other sessions', async () => {
    const [one, other] = [bench.session(), bench.session()];
    const [input] = await one.add({ url: put('/secret.ts', segment), headers: {}, kind: 'file' });
    expect((await readInput(other, input?.url ?? '')).status).toBe(404);
    const proxy = new URL(one.environment['http_proxy'] ?? '');
    for (const token of ['', 'x'.repeat(32), hash(segment).slice(0, 32)]) {
      const environment = { http_proxy: `http://relay:${token}@${proxy.host}` };
      expect((await readInput({ environment }, input?.url ?? '')).status).toBe(407);
    }
    one.close();
    other.close();
  });

  it('is not an open proxy', async () => {
    for (const target of [
      `${canary.url}/x`,
      'http://relay.example/0',
      'http://relay/0/../x',
      'http://relay:81/0',
    ]) {
      const session = bench.session();
      await session.add({ url: put('/good.ts', segment), headers: {}, kind: 'file' });
      const response = await requestInput(session, target);
      expect(response.statusCode).toBe(403);
      session.close();
    }
    const proxy = new URL(bench.session().environment['http_proxy'] ?? '');
    const tunnel = request({
      host: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: new URL(canary.url).host,
    });
    tunnel.end();
    const [response] = (await once(tunnel, 'connect')) as [{ statusCode: number }];
    expect(response.statusCode).toBe(403);
    expect(canary.asked).toEqual([]);
  });
});
