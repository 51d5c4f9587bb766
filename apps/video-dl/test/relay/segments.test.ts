import { createCipheriv } from 'node:crypto';
import type { MediaSource, RelaySession } from '../../dist/relay/index.js';
import { readAll, startBench, type Bench } from './support/bench.js';

let bench: Bench;

beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

const playlistType = 'application/vnd.apple.mpegurl';

/** Puts a document on the media server. */
function put(path: string, body: string | Buffer, type = playlistType): string {
  bench.on(path, (_request, response) => void response.writeHead(200, { 'content-type': type }).end(body));
  return `${bench.site}${path}`;
}

const vod = (...lines: string[]) =>
  ['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines, '#EXT-X-ENDLIST', ''].join('\n');
const hls = (url: string, more: Partial<MediaSource> = {}): MediaSource => ({
  url,
  headers: {},
  kind: 'hls',
  ...more,
});

/** The addresses in a playlist, as ffmpeg resolves them. */
function addresses(playlist: Buffer, base: string): string[] {
  const lines = playlist.toString().split('\n');
  const named = lines.flatMap((line) => [...line.matchAll(/URI="([^"]+)"/g)].map(([, uri = '']) => uri));
  const bare = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return [...named, ...bare].map((uri) => new URL(uri, base).href);
}

/** Reads a playlist and everything in it, level by level. */
async function readTree(url: string): Promise<Buffer[]> {
  const { body, isClean, status, headers } = await readAll(url);
  if (!isClean || status !== 200) throw new Error(`broken off (${status})`);
  if (headers.get('content-type') !== playlistType) return [body];
  const parts: Buffer[] = [];
  for (const address of addresses(body, url)) parts.push(...(await readTree(address)));
  return parts;
}

async function failureOf(
  source: MediaSource,
  renew?: () => Promise<MediaSource>,
): Promise<{ session: RelaySession; message: string }> {
  const session = bench.session(renew);
  await expect(readTree(session.add(source))).rejects.toThrow(/broken off/);
  return { session, message: session.failure?.message ?? '' };
}

describe('an HLS source through the relay', () => {
  it('is complete when every segment was read, and not before', async () => {
    for (const index of [0, 1, 2]) put(`/plain/${index}.ts`, `segment ${index}`, 'video/mp2t');
    const url = put(
      '/plain/index.m3u8',
      vod('#EXTINF:2,', '0.ts', '#EXTINF:2,', '/plain/1.ts', '#EXTINF:1,', `${bench.site}/plain/2.ts`),
    );
    const session = bench.session();
    const entry = session.add(hls(url));
    expect(entry).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/[^/]+\.m3u8$/);
    const { body } = await readAll(entry);
    const [first = '', second = '', third = ''] = addresses(body, entry);
    expect(body.toString()).not.toContain(bench.host);
    expect((await readAll(first)).body.toString()).toBe('segment 0');
    expect((await readAll(third)).body.toString()).toBe('segment 2');
    expect(session.allReceived()).toBe(false);
    expect((await readAll(second)).body.toString()).toBe('segment 1');
    expect(session.allReceived()).toBe(true);
  });

  it('has its keys, initialisation sections and byte ranges resolved', async () => {
    const all = Buffer.from('INITaaaabbbbccccc');
    bench.on('/ranges/all.mp4', (request, response) => {
      const [, start = '0', end = '16'] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      response.writeHead(206, { 'content-range': `bytes ${start}-${end}/17` });
      response.end(all.subarray(Number(start), Number(end) + 1));
    });
    put('/ranges/the.key', Buffer.alloc(16, 'k'), 'application/octet-stream');
    const url = put(
      '/ranges/index.m3u8',
      vod(
        '#EXT-X-MAP:URI="all.mp4",BYTERANGE="4@0"',
        '#EXT-X-KEY:METHOD=AES-128,URI="the.key",IV=0x00000000000000000000000000000001',
        ...['#EXTINF:2,', '#EXT-X-BYTERANGE:4@4', 'all.mp4'],
        ...['#EXTINF:2,', '#EXT-X-BYTERANGE:4', 'all.mp4'],
        ...['#EXT-X-KEY:METHOD=NONE', '#EXTINF:2,', '#EXT-X-BYTERANGE:5', 'all.mp4'],
      ),
    );
    const session = bench.session();
    const entry = session.add(hls(url));
    const text = (await readAll(entry)).body.toString();
    expect(text).toContain('IV=0x00000000000000000000000000000001');
    expect(text).not.toContain('BYTERANGE');
    const parts = await readTree(entry);
    expect(parts.map(String)).toEqual(['INIT', 'k'.repeat(16), 'aaaa', 'bbbb', 'ccccc']);
    expect(session.allReceived()).toBe(true);
  });

  it('may be a master playlist with renditions', async () => {
    for (const name of ['low', 'high', 'sound']) {
      put(`/master/${name}.ts`, name, 'video/mp2t');
      put(`/master/${name}.m3u8`, vod('#EXTINF:2,', `${name}.ts`));
    }
    const url = put(
      '/master/index.m3u8',
      [
        '#EXTM3U',
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="One, two",DEFAULT=YES,URI="sound.m3u8"',
        '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="x",URI="subtitles.m3u8"',
        '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="frames.m3u8"',
        '#EXT-X-SESSION-DATA:DATA-ID="x",URI="data.json"',
        '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"',
        'low.m3u8',
        '#EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="a"',
        'high.m3u8',
      ].join('\n'),
    );
    const session = bench.session();
    const entry = session.add(hls(url));
    const { body } = await readAll(entry);
    expect(body.toString()).toContain('NAME="One, two"');
    expect(body.toString()).not.toMatch(/subtitles|frames|data\.json/);
    expect((await readTree(entry)).map(String).sort()).toEqual(['high', 'low', 'sound']);
    expect(session.allReceived()).toBe(true);
  });

  it('has segments that survive a connection that breaks', async () => {
    const url = put('/cut/index.m3u8', vod('#EXTINF:2,', `${bench.site}/file.mp4?hls=1&cut=1000000&times=1`));
    const session = bench.session();
    const [segment] = await readTree(session.add(hls(url)));
    expect(segment?.equals(bench.file)).toBe(true);
    expect(session.allReceived()).toBe(true);
  });

  it('is extracted again when segments expire, and goes on with the same segment', async () => {
    const playlist = (token: string) =>
      vod(...[0, 1, 2].flatMap((index) => ['#EXTINF:2,', `/expiring/${index}?token=${token}`]));
    const served: string[] = [];
    for (const index of [0, 1, 2]) {
      bench.on(`/expiring/${index}`, (request, response) => {
        const isExpired = index > 0 && request.url?.endsWith('old');
        served.push(`${request.url} ${isExpired}`);
        response.writeHead(isExpired ? 403 : 200).end(`segment ${index}`);
      });
    }
    let renewals = 0;
    const renew = () => {
      renewals += 1;
      return Promise.resolve(hls(put('/expiring/new.m3u8', playlist('new'))));
    };
    const session = bench.session(renew);
    const parts = await readTree(session.add(hls(put('/expiring/old.m3u8', playlist('old')))));
    expect(parts.map(String)).toEqual(['segment 0', 'segment 1', 'segment 2']);
    expect(renewals).toBe(1);
    expect(session.allReceived()).toBe(true);
  });

  it('fails when the playlist that is extracted again is of another medium', async () => {
    bench.on('/other/0', (_request, response) => void response.writeHead(403).end());
    const old = put('/other/old.m3u8', vod('#EXTINF:2,', '0'));
    const renew = () =>
      Promise.resolve(hls(put('/other/new.m3u8', vod('#EXTINF:2,', '0', '#EXTINF:2,', '1'))));
    expect((await failureOf(hls(old), renew)).message).toContain('changed the playlist');
  });

  it.each([
    ['a missing segment', vod('#EXTINF:2,', 'gone.ts'), 'upstream_error'],
    ['a segment at a private address', vod('#EXTINF:2,', 'http://10.0.0.1/0.ts'), 'forbidden_address'],
    [
      'a segment that redirects to a private address',
      vod('#EXTINF:2,', '/file.mp4?redirect=http%3A%2F%2F127.0.0.1%3A1%2F'),
      'forbidden_address',
    ],
    ['a segment in the file system', vod('#EXTINF:2,', 'file:///etc/passwd'), 'upstream_error'],
    [
      'a key at a private address',
      vod('#EXT-X-KEY:METHOD=AES-128,URI="http://[::1]/k"', '#EXTINF:2,', '0.ts'),
      'forbidden_address',
    ],
    [
      'a map in the file system',
      vod('#EXT-X-MAP:URI="file:///etc/passwd"', '#EXTINF:2,', '0.ts'),
      'upstream_error',
    ],
    [
      'a playlist at a private address',
      '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://192.168.0.1/x.m3u8',
      'forbidden_address',
    ],
    ['no end: it is live', '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n', 'live_not_supported'],
    [
      'a key of a DRM system',
      vod(
        '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"',
        '#EXTINF:2,',
        '0.ts',
      ),
      'drm_protected',
    ],
    ['a byte range that is none', vod('#EXT-X-BYTERANGE:x', '#EXTINF:2,', '0.ts'), 'upstream_error'],
    ['no segments', vod(), 'upstream_error'],
    ['no playlist in it', '<html>Not here</html>', 'upstream_error'],
  ])('fails with %s', async (_what, playlist, code) => {
    const { session } = await failureOf(hls(put('/bad/index.m3u8', playlist)));
    expect(session.failure?.code).toBe(code);
    expect(session.allReceived()).toBe(false);
  });

  it('of the kind VOD needs no end', async () => {
    put('/vod/0.ts', 'x', 'video/mp2t');
    const url = put('/vod/index.m3u8', '#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:2,\n0.ts\n');
    const entry = bench.session().add(hls(url));
    expect((await readAll(entry)).body.toString()).toContain('#EXT-X-ENDLIST');
  });

  it('fails with a playlist that is too long', async () => {
    const relay = await bench.otherRelay({ maxManifestBytes: 1000, maxSegments: 3 });
    const segments = (count: number) =>
      vod(...Array.from({ length: count }, (_, index) => `#EXTINF:2,\n${index}.ts`));
    for (const playlist of [segments(4), segments(2) + '#'.repeat(2000)]) {
      const session = relay.open({ signal: new AbortController().signal });
      await readAll(session.add(hls(put('/long/index.m3u8', playlist))));
      expect(session.failure).toMatchObject({ code: 'upstream_error' });
    }
  });

  it('gives out segments whose decryption works', async () => {
    const key = Buffer.alloc(16, 7);
    const cipher = createCipheriv('aes-128-cbc', key, Buffer.alloc(16));
    put('/aes/0.ts', Buffer.concat([cipher.update('plain'), cipher.final()]), 'video/mp2t');
    put('/aes/k', key, 'application/octet-stream');
    const url = put('/aes/index.m3u8', vod('#EXT-X-KEY:METHOD=AES-128,URI="k"', '#EXTINF:2,', '0.ts'));
    const [served] = await readTree(bench.session().add(hls(url)));
    expect(served?.equals(key)).toBe(true);
  });
});

describe('fragments through the relay', () => {
  const fragments = (urls: string[], more: Partial<MediaSource> = {}): MediaSource => ({
    ...{ url: `${bench.site}/manifest.mpd`, headers: {}, kind: 'fragments' },
    fragments: urls.map((url) => ({ url })),
    ...more,
  });

  it('come as one stream', async () => {
    const urls = [0, 1, 2, 3].map((index) =>
      put(`/fragments/${index}`, `<${index}>`.repeat(20_000), 'video/mp4'),
    );
    const session = bench.session();
    const { body, isClean } = await readAll(session.add(fragments(urls)), { range: 'bytes=0-' });
    expect(isClean).toBe(true);
    expect(body.toString()).toBe([0, 1, 2, 3].map((index) => `<${index}>`.repeat(20_000)).join(''));
    expect(session.allReceived()).toBe(true);
  });

  it('may be byte ranges of one file', async () => {
    const session = bench.session();
    const url = `${bench.site}/file.mp4?ranges=1`;
    const list = [
      { url, byteRange: { start: 0, end: 999 } },
      { url, byteRange: { start: 1000, end: 1_999_999 } },
      { url, byteRange: { start: 2_000_000, end: 2_999_999 } },
    ];
    const { body } = await readAll(session.add({ ...fragments([]), fragments: list }));
    expect(body.equals(bench.file)).toBe(true);
  });

  it('are resumed within a fragment, and extracted again when they expire', async () => {
    const faulty = [1, 2, 3].map((index) => `${bench.site}/file.mp4?f=${index}&cut=1000000&times=1`);
    const session = bench.session();
    const { body } = await readAll(session.add(fragments(faulty)));
    expect(body.equals(Buffer.concat([bench.file, bench.file, bench.file]))).toBe(true);

    const expiring = [1, 2].map((index) => `${bench.site}/file.mp4?f=${index}&expire=1000000`);
    const renew = () =>
      Promise.resolve(fragments([1, 2].map((index) => `${bench.site}/file.mp4?g=${index}&expire=9000000`)));
    const renewed = await readAll(bench.session(renew).add(fragments(expiring)));
    expect(renewed.body.equals(Buffer.concat([bench.file, bench.file]))).toBe(true);
  });

  it.each([
    ['a missing one', (good: string) => [good, `${bench.site}/file.mp4?status=404`, good], 'upstream_error'],
    [
      'one at a private address',
      (good: string) => [good, 'http://169.254.169.254/latest'],
      'forbidden_address',
    ],
    [
      'one that breaks',
      (good: string) => [good, `${bench.site}/file.mp4?frag=1&cut=1000`, good],
      'upstream_error',
    ],
    ['none at all', () => [], 'upstream_error'],
  ])('fail with %s', async (_what, list, code) => {
    const session = bench.session();
    const { isClean, status } = await readAll(session.add(fragments(list(`${bench.site}/file.mp4?good`))));
    expect(status >= 500 || !isClean).toBe(true);
    expect(session.failure?.code).toBe(code);
    expect(session.allReceived()).toBe(false);
  });

  it('fail when the list that is extracted again is another', async () => {
    const renew = () => Promise.resolve(fragments([`${bench.site}/file.mp4`, `${bench.site}/file.mp4`]));
    const session = bench.session(renew);
    await readAll(session.add(fragments([`${bench.site}/file.mp4?x=1&expire=1000000`])));
    expect(session.failure?.message).toContain('changed the list of fragments');
  });
});

describe('a DASH manifest through the relay', () => {
  const dash = (url: string): MediaSource => ({ url, headers: {}, kind: 'dash' });
  const mpd = (content: string, attributes = 'type="static"') =>
    `<?xml version="1.0"?><!-- made --><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" ${attributes}>${content}</MPD>`;

  it('leads to the relay only, whatever form its addresses have', async () => {
    const other = put('/elsewhere/2.m4s', 'two', 'video/mp4');
    put('/dash/deep/1.m4s', 'one', 'video/mp4');
    put('/root/3.m4s', 'three', 'video/mp4');
    const url = put(
      '/dash/index.mpd',
      mpd(
        `<Location>${bench.site}/dash/index.mpd</Location><BaseURL>deep/</BaseURL><Period xlink:href="http://10.0.0.1/">
         <AdaptationSet><Representation id="a&amp;b"><SegmentTemplate media="/root/$Number$.m4s" initialization="1.m4s"/></Representation>
         <Representation><BaseURL>${other}?a=1&amp;b=2</BaseURL></Representation></AdaptationSet></Period>`,
      ),
      'application/dash+xml',
    );
    const session = bench.session();
    const entry = session.add(dash(url));
    const text = (await readAll(entry)).body.toString();
    expect(text).not.toMatch(new RegExp(`${bench.host}|10\\.0\\.0\\.1|DOCTYPE|Location|xlink:href`));
    expect(text).toContain('id="a&amp;b"');
    const [base = '', single = ''] = [...text.matchAll(/<BaseURL>([^<]+)<\/BaseURL>/g)].map(
      ([, address = '']) => address.replaceAll('&amp;', '&'),
    );
    const template = /media="([^"]+)"/.exec(text)?.[1] ?? '';
    expect((await readAll(new URL('1.m4s', base).href)).body.toString()).toBe('one');
    expect((await readAll(single)).body.toString()).toBe('two');
    expect((await readAll(template.replace('$Number$', '3'))).body.toString()).toBe('three');
    expect(session.allReceived()).toBe(true);
  });

  it('given as fragments is served as fragments', async () => {
    const url = put('/dash/frag', 'fragment', 'video/mp4');
    const session = bench.session();
    const { body } = await readAll(session.add({ ...dash(`${bench.site}/none.mpd`), fragments: [{ url }] }));
    expect(body.toString()).toBe('fragment');
  });

  it.each([
    ['a live broadcast', mpd('<Period/>', 'type="dynamic"'), 'live_not_supported'],
    [
      'DRM',
      mpd('<Period><AdaptationSet><ContentProtection schemeIdUri="x"/></AdaptationSet></Period>'),
      'drm_protected',
    ],
    ['an address in the file system', mpd('<BaseURL>file:///etc/</BaseURL><Period/>'), 'upstream_error'],
    [
      'an external entity',
      '<!DOCTYPE MPD [<!ENTITY x SYSTEM "file:///etc/passwd">]><MPD>&x;</MPD>',
      'upstream_error',
    ],
    ['something else in it', '<html>x</html>', 'upstream_error'],
    ['no XML in it', 'nonsense', 'upstream_error'],
  ])('fails with %s', async (_what, text, code) => {
    const session = bench.session();
    const { status } = await readAll(session.add(dash(put('/dash/bad.mpd', text, 'application/dash+xml'))));
    expect(status).toBe(502);
    expect(session.failure?.code).toBe(code);
  });

  it('fails with a segment that is missing, private or above the root', async () => {
    for (const [segment, code] of [
      ['gone.m4s', 'upstream_error'],
      ['http://10.0.0.1/x.m4s', 'forbidden_address'],
      ['../../../../../x.m4s', 'upstream_error'],
    ] as const) {
      const url = put(
        '/dash/one.mpd',
        mpd(`<Period><SegmentTemplate media="${segment}"/></Period>`),
        'application/dash+xml',
      );
      const session = bench.session();
      const text = (await readAll(session.add(dash(url)))).body.toString();
      const base = /<BaseURL>([^<]+)</.exec(text)?.[1] ?? '';
      await readAll(new URL(/media="([^"]+)"/.exec(text)?.[1] ?? '', base).href);
      expect(session.failure?.code).toBe(code);
    }
  });
});
