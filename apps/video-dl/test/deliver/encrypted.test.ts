import { readFile } from 'node:fs/promises';
import { media, startSite, type Site } from '@media-services/fault-site';
import { startService, type TestService } from '../support/service.js';

const playlist = `#EXTM3U
#EXT-X-TARGETDURATION:4
#EXT-X-PLAYLIST-TYPE:VOD
#EXTINF:4,
/media/encrypted-fragments.mp4
#EXT-X-ENDLIST
`;

/** Adds a `pssh` box (ISO 23001-7, 8.1) in front of the media, the only sign of encryption in the file. */
async function withKeySystem(name: string): Promise<Buffer> {
  const content = await readFile(await media(name));
  const pssh = Buffer.alloc(32);
  pssh.writeUInt32BE(pssh.length);
  pssh.write('pssh', 4, 'latin1');
  const fileTypeBytes = content.readUInt32BE(0);
  return Buffer.concat([content.subarray(0, fileTypeBytes), pssh, content.subarray(fileTypeBytes)]);
}

describe('encrypted media', () => {
  let site: Site;
  let service: TestService;

  beforeAll(async () => {
    site = await startSite();
    const keySystem = await withKeySystem('fragments.mp4');
    site.on('/key-system.mp4', (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'video/mp4', 'content-length': keySystem.length })
        .end(keySystem);
    });
    site.on('/index.m3u8', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(playlist);
    });
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  describe.each([
    '/media/encrypted.mp4',
    '/media/encrypted.m4a',
    '/media/encrypted-fragments.mp4',
    '/key-system.mp4',
    '/index.m3u8',
  ])('%s', (path) => {
    it.each([
      ['/api/info', {}],
      ['/api/stream', {}],
      ['/api/stream', { fmt: 'original' }],
      ['/api/stream/video', {}],
      ['/api/stream/video', { start: '1', end: '2' }],
    ])('is rejected by %s with %j', async (api, query) => {
      const response = await service.get(api, { url: `${site.url}${path}`, ...query });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'drm_protected' });
    });
  });

  const key = 'METHOD=SAMPLE-AES,URI="skd://key"';

  /** @param mark in the master playlist @param variants that are protected */
  async function serveMaster(path: string, mark: string, variants: RegExp): Promise<void> {
    const text = await (await fetch(`${site.url}/media/hls-master/index.m3u8`)).text();
    const pages = {
      [path]: text
        .replaceAll(/^(?=[^#\n])|(?<=URI=")/gmu, '/media/hls-master/')
        .replaceAll(variants, '/protected.m3u8')
        .replace('\n', `\n${mark}\n`),
      '/protected.m3u8': playlist.replace('\n', `\n#EXT-X-KEY:${key}\n`),
    };
    for (const [page, content] of Object.entries(pages)) {
      site.on(page, (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(content);
      });
    }
  }

  it('is rejected if only the playlists of the variants name the key', async () => {
    await serveMaster('/all.m3u8', '', /(?<=^|")[^"\n]*\.m3u8/gmu);
    for (const path of ['/api/stream', '/api/stream/video']) {
      const response = await service.get(path, { url: `${site.url}/all.m3u8` });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'drm_protected' });
    }
  });

  it.each([
    ['states a key', `#EXT-X-SESSION-KEY:${key}`, '.m3u8'],
    ['states no key', '', '.m3u8'],
    ['states no key and is in a page', '', ''],
  ])('leaves the clear variants of a master playlist that %s', async (name, mark, extension) => {
    const path = `/${encodeURIComponent(name)}.m3u8`;
    await serveMaster(path, mark, /^.*720.*m3u8$/gmu);
    site.on('/page', (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<video><source src="${path}" type="application/x-mpegURL"></video>`);
    });
    const url = extension === '' ? `${site.url}/page` : `${site.url}${path}`;
    const { status, body } = await service.info(url);
    expect(status).toBe(200);
    expect(body['downloads']).toMatchObject([{ target: 'mp3' }, { height: 360 }, { height: 360 }]);
    const response = await service.get('/api/stream/video', { url });
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  });

  it('leaves the clear Representations of a manifest that states no protection', async () => {
    const representation = async (id: string, height: number) => {
      const content = await readFile(await media(`${id}.mp4`));
      const url = `/media/${id}.mp4`;
      const start = content.indexOf('moof') - 4;
      return `<Representation id="${id}" bandwidth="${height * 1000}" width="${height * 2}" height="${height}" codecs="avc1.640028">
        <SegmentList duration="4"><Initialization sourceURL="${url}" range="0-${start - 1}"/>
        <SegmentURL media="${url}" mediaRange="${start}-${content.length - 1}"/></SegmentList></Representation>`;
    };
    const mpd = `<MPD mediaPresentationDuration="PT4S"><Period><AdaptationSet mimeType="video/mp4">
      ${await representation('fragments', 270)}${await representation('encrypted-fragments', 720)}
      </AdaptationSet></Period></MPD>`;
    site.on('/some.mpd', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/dash+xml' }).end(mpd);
    });
    const url = `${site.url}/some.mpd`;
    const { status, body } = await service.info(url);
    expect(status).toBe(200);
    expect(body['downloads']).toMatchObject([{ target: 'mp3' }, { height: 270 }, { height: 270 }]);
    const response = await service.get('/api/stream/video', { url });
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  });
});
