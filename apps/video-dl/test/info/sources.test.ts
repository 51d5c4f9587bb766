import { setTimeout as delay } from 'node:timers/promises';
import { type Site, startSite } from '@media-services/fault-site';
import request from 'supertest';
import { fixtureEngine, interpreters } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';

interface Download {
  readonly target: string;
  readonly [field: string]: unknown;
}

const media = { h264: 'copy', aac: 'copy' } as const;
const mp4 = (height: number, more: object = {}) => ({ height, video: media.h264, audio: media.aac, ...more });
/** The site's own file is sent. */
const asIs = (height: number, more: object = {}) =>
  mp4(height, { video: 'as is', audio: 'as is', exactBytes: expect.any(Number) as number, ...more });
const mp3 = { audio: 'transcode' };

/** Pages with their duration and the expected downloads; an absent target is not offered. */
const sources: [path: string, durationSeconds: number, downloads: Record<string, object>][] = [
  ['/watch', 4, { mp3, 'mp4-720': asIs(360), 'mp4-1080': asIs(360) }],
  ['/sources', 4, { mp3, 'mp4-720': asIs(360), 'mp4-1080': asIs(360) }],
  ['/open-graph', 4, { mp3, 'mp4-720': asIs(360), 'mp4-1080': asIs(360) }],
  ['/json-ld', 4, { mp3, 'mp4-720': asIs(360), 'mp4-1080': asIs(360) }],
  ['/meta-refresh', 4, { mp3, 'mp4-720': asIs(360), 'mp4-1080': asIs(360) }],
  ['/media/front.mp4', 4, { mp3, 'mp4-720': asIs(360), 'mp4-1080': asIs(360) }],
  ['/media/end.mp4', 4, { mp3, 'mp4-720': asIs(360), 'mp4-1080': asIs(360) }],
  ['/media/portrait.mp4', 4, { mp3, 'mp4-720': asIs(640), 'mp4-1080': asIs(640) }],
  ['/media/silent.mp4', 4, { 'mp4-720': asIs(360, { audio: null }), 'mp4-1080': asIs(360, { audio: null }) }],
  ['/media/h264.mkv', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  ['/media/hevc.mp4', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  [
    '/media/h264-opus.mp4',
    4,
    { mp3, 'mp4-720': mp4(360, { audio: 'transcode' }), 'mp4-1080': mp4(360, { audio: 'transcode' }) },
  ],
  [
    '/media/vp9.webm',
    4,
    { mp3, 'mp4-720': mp4(360, { audio: 'transcode' }), 'mp4-1080': mp4(360, { audio: 'transcode' }) },
  ],
  [
    '/media/vp8.webm',
    4,
    {
      mp3,
      'mp4-720': mp4(360, { video: 'transcode', audio: 'transcode', estimatedBytes: null }),
      'mp4-1080': mp4(360, { video: 'transcode', audio: 'transcode', estimatedBytes: null }),
    },
  ],
  ['/media/sound.mp3', 4, { mp3: { audio: 'as is' } }],
  ['/media/sound.m4a', 4, { mp3 }],
  ['/media/sound.ogg', 4, { mp3 }],
  ['/media/hls-ts/index.m3u8', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  [
    '/media/hls-fmp4/index.m3u8',
    4,
    {
      mp3,
      'mp4-720': mp4(360, { estimatedBytes: null }),
      'mp4-1080': mp4(360, { estimatedBytes: null }),
    },
  ],
  ['/media/hls-aes/index.m3u8', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  ['/media/hls-byteranges/index.m3u8', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  [
    '/media/hls-master/index.m3u8',
    4,
    { mp3: { formatIds: ['sound-English'] }, 'mp4-720': mp4(720), 'mp4-1080': mp4(720) },
  ],
  ['/watch?media=hls-master/index.m3u8', 4, { mp3, 'mp4-720': mp4(720), 'mp4-1080': mp4(720) }],
  ['/media/dash-template/manifest.mpd', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  ['/media/dash-timeline/manifest.mpd', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  ['/media/dash-list/manifest.mpd', 4, { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360) }],
  [
    '/fixture/rungs',
    212.5,
    {
      mp3: { audio: 'transcode', formatIds: ['m4a'], estimatedBytes: 5_100_000 },
      'mp4-720': mp4(720, { formatIds: ['h264-720', 'm4a'] }),
      'mp4-1080': mp4(1080, { formatIds: ['h264-1080', 'm4a'] }),
    },
  ],
  [
    '/fixture/vp9-only',
    212.5,
    {
      mp3,
      'mp4-720': mp4(720, { formatIds: ['vp9-720', 'a-opus'], audio: 'transcode' }),
      'mp4-1080': mp4(1080, { formatIds: ['vp9-1080', 'a-opus'], audio: 'transcode' }),
    },
  ],
  [
    '/fixture/above-720',
    212.5,
    { mp3, 'mp4-720': mp4(1080, { formatIds: ['h264-1080', 'm4a'] }), 'mp4-1080': mp4(1080) },
  ],
  [
    '/fixture/below-720',
    212.5,
    { mp3, 'mp4-720': mp4(360), 'mp4-1080': mp4(360, { formatIds: ['h264-360', 'm4a'] }) },
  ],
  [
    '/fixture/portrait',
    212.5,
    { mp3, 'mp4-720': mp4(1280, { formatIds: ['h264-720', 'm4a'] }), 'mp4-1080': mp4(1920) },
  ],
];

describe.each(await interpreters())('/api/info with yt-dlp $ytDlp', ({ python, ytDlp }) => {
  let site: Site;
  let service: TestService;

  beforeAll(async () => {
    site = await startSite();
    service = await startService(
      {
        ALLOWED_PRIVATE_SOURCES: site.host,
        YTDLP_PYTHON: python,
        // The site encodes its media when they are first requested.
        EXTRACTION_TIMEOUT_SECONDS: '120',
        PROBE_TIMEOUT_SECONDS: '60',
      },
      { engineScript: fixtureEngine },
    );
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  it.each(sources)('describes the downloads of %s', async (path, durationSeconds, expected) => {
    const { status, body } = await service.info(site.url + path);
    expect({ status, body }).toMatchObject({ status: 200, body: { isLive: false } });
    expect(Math.abs(Number(body['duration']) - durationSeconds)).toBeLessThan(0.1);
    const downloads = body['downloads'] as readonly Download[];
    expect(downloads.map(({ target }) => target)).toEqual(Object.keys(expected));
    for (const download of downloads) expect(download).toMatchObject(expected[download.target] ?? {});
  });

  it('has every field, null if unknown', async () => {
    const { body } = await service.info(`${site.url}/watch`);
    const url = encodeURIComponent(`${site.url}/watch`);
    expect(body).toEqual({
      id: 'watch-1',
      title: 'A plain video',
      thumbnail: null,
      duration: 4,
      durationSource: 'media',
      uploader: null,
      webpageUrl: `${site.url}/watch`,
      extractor: 'html5',
      isLive: false,
      uploadDate: null,
      description: null,
      playlistIndex: null,
      playlistCount: null,
      clip: null,
      suggestedStart: null,
      audioLanguages: [],
      chapters: [],
      subtitles: [],
      items: [],
      originalAudio: {
        container: 'm4a',
        codec: 'aac',
        bitrateKbps: expect.any(Number) as number,
        isSiteFile: false,
        estimatedBytes: expect.any(Number) as number,
        exactBytes: null,
        href: expect.stringMatching(/^\/api\/stream\?url=.*&fmt=original$/u) as string,
      },
      formats: [
        {
          id: '0',
          ext: 'mp4',
          protocol: 'http',
          width: 640,
          height: 360,
          fps: 25,
          videoCodec: expect.stringMatching(/^(avc1|h264)/) as string,
          audioCodec: expect.stringMatching(/^(mp4a|aac)/) as string,
          videoBitrateKbps: expect.any(Number) as number,
          audioBitrateKbps: expect.any(Number) as number,
          filesizeBytes: expect.any(Number) as number,
          filesizeIsEstimate: false,
          availableAt: null,
          note: null,
        },
      ],
      downloads: [
        expect.objectContaining({ target: 'mp3', href: `/api/stream?url=${url}`, estimatedBytes: 96_000 }),
        expect.objectContaining({ target: 'mp4-720', href: `/api/stream/video?url=${url}&fmt=mp4-720` }),
        expect.objectContaining({ target: 'mp4-1080', href: `/api/stream/video?url=${url}&fmt=mp4-1080` }),
      ],
    });
  });

  it("has the page's own metadata", async () => {
    const { body } = await service.info(`${site.url}/json-ld`);
    expect(body).toMatchObject({
      title: 'A VideoObject',
      description: 'Described by JSON-LD',
      thumbnail: `${site.url}/media/cover.jpg`,
      uploadDate: '2026-01-31',
      uploader: 'Ada Example',
      duration: 4,
    });
  });

  it("has the page's own title, whatever it contains", async () => {
    const { body } = await service.info(`${site.url}/unicode-title`);
    expect(body['title']).toMatch(/^Ein sehr langer Titel – 日本語のタイトル 🎬 .* Ende$/u);
    const numbered = await service.info(`${site.url}/watch?title=${encodeURIComponent('Part (1)')}`);
    expect(numbered.body['title']).toBe('Part (1)');
  });

  it('takes the first video of a page with several and reports that', async () => {
    const { body } = await service.info(`${site.url}/two-videos`);
    expect(body).toMatchObject({
      title: 'Two videos',
      playlistIndex: 1,
      playlistCount: 2,
      formats: [{ height: 360 }],
    });
    const post = await service.info(`${site.url}/fixture/post`);
    expect(post.body).toMatchObject({ id: 'fixture', playlistIndex: 1, playlistCount: 2 });
  });

  it('lists the videos of a page with several', async () => {
    const { body } = await service.info(`${site.url}/fixture/three`);
    expect(body).toMatchObject({ id: 'one', playlistIndex: 1, playlistCount: 3 });
    expect(body['items']).toEqual(
      ['one', 'two', 'three'].map((name, index) => ({
        index: index + 1,
        title: `Clip ${name}`,
        duration: 4 + index,
        thumbnail: `${site.url}/media/${name}.jpg`,
      })),
    );
    const many = await service.info(`${site.url}/fixture/many`);
    expect(many.body).toMatchObject({ playlistCount: 60 });
    expect(many.body['items']).toHaveLength(50);
  });

  it.each([
    [1, 'one'],
    [2, 'two'],
    [3, 'three'],
  ])('takes the video in `item` (%i)', async (item, id) => {
    const { body } = await service.info(`${site.url}/fixture/three`, { item: String(item) });
    expect(body).toMatchObject({ id, playlistIndex: item, playlistCount: 3 });
    const hrefs = (body['downloads'] as readonly Download[]).map(({ href }) => String(href));
    for (const href of hrefs) expect(new URL(href, service.url).searchParams.get('item')).toBe(String(item));
    const stream = new URL(hrefs.at(-1) ?? '', service.url);
    expect((await fetch(stream, { method: 'HEAD' })).status).toBe(200);
  });

  it('takes the second video of a web page', async () => {
    const { body } = await service.info(`${site.url}/two-videos`, { item: '2' });
    expect(body).toMatchObject({ playlistIndex: 2, playlistCount: 2, formats: [{ height: 640 }] });
  });

  it.each([
    ['/fixture/three', 4, 3],
    ['/watch', 2, 1],
  ])('rejects an item that %s does not have (%i)', async (path, item, count) => {
    expect(await service.info(site.url + path, { item: String(item) })).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: [{ field: 'item', message: `must be at most ${count} for this page` }],
      },
    });
  });

  it.each(['0', '-1', '1.5', 'x', '', '1001'])('rejects the item “%s”', async (item) => {
    expect(await service.info(`${site.url}/fixture/three`, { item })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ field: 'item' }] },
    });
  });

  it('tries the next video of a page if the first is unavailable', async () => {
    const { body } = await service.info(`${site.url}/fixture/first-fails`);
    expect(body).toMatchObject({ id: 'two', playlistIndex: 2, playlistCount: 3 });
    expect(await service.info(`${site.url}/fixture/first-fails`, { item: '1' })).toMatchObject({
      status: 403,
      body: { code: 'private_video' },
    });
  });

  it('takes the whole track if the page also has a preview', async () => {
    const { body } = await service.info(`${site.url}/fixture/preview-beside-the-whole`);
    expect(body['downloads']).toMatchObject([{ target: 'mp3', formatIds: ['http_mp3'] }]);
  });

  it.each(['PT1H', 'PT2S', 'PT8H'])("prefers the media's length to a page's of %s", async (duration) => {
    const page = `${site.url}/json-ld?duration=${duration}`;
    const { status, body } = await service.info(page, { start: '3' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ duration: 4, durationSource: 'media', clip: { start: 3, end: 4 } });
    expect(body['downloads']).toHaveLength(3);
    expect(await service.info(page, { start: '5' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ field: 'start' }] },
    });
    const head = await service.get('/api/stream', { url: page }, { method: 'HEAD' });
    expect(head.headers.get('x-content-duration')).toBe('4');
  });

  it.each(['sound.mp3', 'sound.ogg', 'sound.flac'])(
    "prefers the length of %s to the page's",
    async (name) => {
      const page = `${site.url}/json-ld?media=${name}&duration=PT8H`;
      const { status, body } = await service.info(page);
      expect({ status, source: body['durationSource'] }).toEqual({ status: 200, source: 'media' });
      expect(Math.abs(Number(body['duration']) - 4)).toBeLessThan(0.1);
      expect(body['downloads']).toHaveLength(1);
      const head = await service.get('/api/stream', { url: page }, { method: 'HEAD' });
      expect(Math.abs(Number(head.headers.get('x-content-duration')) - 4)).toBeLessThan(0.1);
    },
  );

  it('says that only the page states a length', async () => {
    const { body } = await service.info(`${site.url}/fixture/rungs`);
    expect(body).toMatchObject({ duration: 212.5, durationSource: 'page' });
  });

  it('only suggests the start time in a link', async () => {
    expect(await service.info(`${site.url}/fixture/linked-time`)).toMatchObject({
      status: 200,
      body: { duration: 4, clip: null, suggestedStart: 1.5 },
    });
  });

  it("returns the page's clip, unless another is requested", async () => {
    const page = `${site.url}/fixture/clip`;
    expect(await service.info(page)).toMatchObject({
      status: 200,
      body: {
        duration: 4,
        clip: { start: 1.5, end: 3.5 },
        suggestedStart: null,
        downloads: [
          { target: 'mp3', clipEnd: 'exact', exactBytes: null, estimatedBytes: 48_000 },
          { target: 'mp4-720', video: 'copy or transcode', audio: 'transcode' },
          {},
        ],
      },
    });
    expect(await service.info(page, { start: '0', end: '0:03' })).toMatchObject({
      body: { clip: { start: 0, end: 3 }, downloads: [{}, { video: 'copy' }, {}] },
    });
    const head = await service.get('/api/stream', { url: page }, { method: 'HEAD' });
    expect(head.headers.get('x-content-duration')).toBe('2');
  });

  it.each([
    [{ start: 'x' }, ['start']],
    [{ start: '-1' }, ['start']],
    [{ start: '1:60' }, ['start']],
    [{ start: '1e1', end: '' }, ['start', 'end']],
    [{ start: '2', end: '2' }, ['end']],
    [{ start: '2', end: '1', item: '0' }, ['item', 'end']],
    [{ start: '4' }, ['start']],
    [{ start: '0:04.5', end: '9' }, ['start']],
  ])('rejects the clip %j', async (query, fields) => {
    const { status, body } = await service.info(`${site.url}/watch`, query);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_request', errors: fields.map((field) => ({ field })) });
  });

  it('reads the playlist of a film of six hours', async () => {
    const segment = (number: number) =>
      `#EXTINF:2,\n/media/hls-ts/index0.ts?part=${number}&signature=${'s'.repeat(250)}\n`;
    const segments = Array.from({ length: 10_800 }, (_, number) => segment(number)).join('');
    site.on('/six-hours.m3u8', (_req, res) => {
      res.setHeader('content-type', 'application/vnd.apple.mpegurl');
      res.end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n${segments}#EXT-X-ENDLIST\n`);
    });
    expect(await service.info(`${site.url}/six-hours.m3u8`)).toMatchObject({
      status: 200,
      body: { duration: 21_600 },
    });
  });

  it("treats an end after the video's end as its end", async () => {
    expect(await service.info(`${site.url}/watch`, { start: '3.9', end: '99' })).toMatchObject({
      body: { clip: { start: 3.9, end: 4 } },
    });
    expect(await service.info(`${site.url}/watch`, { start: '0', end: '4' })).toMatchObject({
      body: { clip: null },
    });
  });

  // Before 2024, extractors mark no format as doubtful.
  if (ytDlp >= '2024') {
    it.each([
      ['missing-best', 'good'],
      ['protected-best', 'good'],
      ['working-best', 'best'],
      ['open-best', 'best'],
    ])('checks a format that its extractor marks as doubtful (%s)', async (name, chosen) => {
      site.on('/protected.m3u8', (_req, res) => {
        res.setHeader('content-type', 'application/vnd.apple.mpegurl');
        res.end(
          '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key"\n#EXTINF:2,\n/1.ts\n#EXT-X-ENDLIST\n',
        );
      });
      const { body } = await service.info(`${site.url}/fixture/${name}`);
      const [, mp4] = body['downloads'] as readonly Download[];
      expect(mp4).toMatchObject({ target: 'mp4-720', formatIds: [chosen] });
      const ids = (body['formats'] as readonly { id: string }[]).map(({ id }) => id);
      expect(ids.toSorted()).toEqual(chosen === 'good' ? ['good'] : ['best', 'good']);
    });

    it('tries the next video of a page if the only format of the first is unavailable', async () => {
      const { body } = await service.info(`${site.url}/fixture/first-missing`);
      expect(body).toMatchObject({ id: 'two', playlistIndex: 2 });
    });

    it('reports why the only format is unavailable', async () => {
      expect(await service.info(`${site.url}/fixture/missing-only`)).toMatchObject({
        status: 404,
        body: { code: 'video_not_found' },
      });
    });
  }

  it('accepts the recording of a live stream', async () => {
    expect(await service.info(`${site.url}/fixture/was-live`)).toMatchObject({ status: 200 });
  });

  it('lets the response be cached only while the URLs are valid', async () => {
    const plain = await service.info(`${site.url}/watch?n=1`);
    expect(plain.headers.get('cache-control')).toBe('private, max-age=60');
    const soon = Math.floor(Date.now() / 1000) + 60;
    const signed = await service.info(`${site.url}/watch?expires=${soon}`);
    expect(signed.headers.get('cache-control')).toBe('private, max-age=0');
  });

  it("doesn't tell when another client asked for the page", async () => {
    const page = `${site.url}/watch?n=asked-before`;
    await service.info(page);
    // Long enough for an age in whole seconds.
    await delay(1100);
    const known = await service.info(page);
    const unknown = await service.info(`${site.url}/watch?n=never-asked`);
    expect(known.headers.get('cache-control')).toBe(unknown.headers.get('cache-control'));
  });

  it('responds to HEAD like GET, without the body', async () => {
    const response = await request(service.url)
      .head('/api/info')
      .query({ url: `${site.url}/watch` });
    expect(response.status).toBe(200);
    expect(response.get('content-type')).toContain('application/json');
    expect(response.text).toBeUndefined();
  });
});
