import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { inspect } from '../media/support/inspect.js';
import { made, type Site, startSite } from '@media-services/fault-site';
import { fixtureEngine } from '../support/pythons.js';
import { startService } from '../support/service.js';
import type { TestService } from '../support/service.js';
import { receive, type Received } from './support/receive.js';

const ffmpeg = ['-v', 'error', '-y'];
const white = (size: string) => ['-f', 'lavfi', '-i', `color=white:size=${size}:rate=25:duration=2`];

describe('frames of different sizes', () => {
  let site: Site;
  let service: TestService;
  let folder: string;
  let output: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'video-dl-sizes-'));
    output = join(folder, 'output.mp4');
    site = await startSite();
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host }, { engineScript: fixtureEngine });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  function serve(path: string, type: string, body: Buffer | string): void {
    site.on(path, (_req, res) => {
      res.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
    });
  }

  async function request(path: string, part = ''): Promise<Received> {
    const received = await receive(
      `${service.url}/api/stream/video?url=${encodeURIComponent(`${site.url}${path}`)}${part}`,
    );
    await writeFile(output, received.body);
    return received;
  }

  /** The brightness of the last frame's middle column. */
  async function lastColumn(width: number, height: number): Promise<number[]> {
    const last = ['-sseof', '-0.5', '-i', output, '-frames:v', '1', '-vf', 'format=gray'];
    const { stdout } = await execa('ffmpeg', ['-v', 'error', ...last, '-f', 'rawvideo', '-'], {
      encoding: 'buffer',
    });
    expect(stdout.length).toBe(width * height);
    return Array.from({ length: height }, (_, y) => stdout[y * width + width / 2] ?? 0);
  }

  it('are fitted into the picture where a phone was turned while it recorded', async () => {
    const parts = ['180x320', '320x180'].map((size) => ({ size, file: join(folder, `${size}.webm`) }));
    for (const { size, file } of parts)
      await execa('ffmpeg', [...ffmpeg, ...white(size), '-c:v', 'libvpx', '-b:v', '200k', file]);
    const [list, turned] = [join(folder, 'list.txt'), join(folder, 'turned.webm')];
    await writeFile(list, parts.map(({ file }) => `file '${file}'\n`).join(''));
    await execa('ffmpeg', [...ffmpeg, '-f', 'concat', '-safe', '0', '-i', list, '-c', 'copy', turned]);
    serve('/turned.webm', 'video/webm', await readFile(turned));

    await request('/turned.webm');

    // The white is as wide as the picture, and as high as its shape says: 100 of 320 rows.
    const rows = await lastColumn(180, 320);
    expect(Math.abs(rows.filter((level) => level > 200).length - 100)).toBeLessThanOrEqual(4);
    expect(rows[160]).toBeGreaterThan(200);
  });

  describe('of a transport stream with an advertisement', () => {
    const sizes = { advert: '320x240', film: '640x360' };
    const part = async (name: keyof typeof sizes, codec: 'h264' | 'hevc' = 'h264'): Promise<Buffer> => {
      const sound = ['-f', 'lavfi', '-i', 'sine=sample_rate=44100:duration=2', '-c:a', 'aac'];
      const encoder = codec === 'h264' ? ['libx264'] : ['libx265', '-x265-params', 'log-level=none'];
      const video = ['-c:v', ...encoder, '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
      const file = codec === 'h264' ? `${name}.ts` : `${name}-${codec}.ts`;
      return readFile(await made(file, { args: [...white(sizes[name]), ...sound, ...video, file] }));
    };

    /** @param mark precedes each segment */
    function servePlaylist(path: string, mark: string, names = ['advert', 'film']): void {
      const entries = names.map((name) => `${mark}#EXTINF:2,\n/parts/${name}.ts\n`);
      const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n${entries.join('')}#EXT-X-ENDLIST\n`;
      serve(path, 'application/vnd.apple.mpegurl', playlist);
    }

    beforeAll(async () => {
      for (const name of ['advert', 'film'] as const)
        serve(`/parts/${name}.ts`, 'video/mp2t', await part(name));
    });

    async function expectFilm(): Promise<void> {
      const { streams } = await inspect(output);
      expect(streams).toMatchObject([{ codec_name: 'h264', nb_read_frames: 100 }, { codec_name: 'aac' }]);
      // The film fills the picture.
      const rows = await lastColumn(640, 360);
      expect(rows.filter((level) => level > 200)).toHaveLength(360);
    }

    it('are fitted into one size if the playlist marks it', async () => {
      servePlaylist('/marked.m3u8', '#EXT-X-DISCONTINUITY\n');
      expect(await request('/marked.m3u8')).toMatchObject({ status: 200, complete: true });
      await expectFilm();
    });

    it.each(['/unmarked.m3u8', '/h264.ts', '/hevc.ts'])(
      'are fitted when %s is requested again',
      async (path) => {
        servePlaylist('/unmarked.m3u8', '');
        for (const codec of ['h264', 'hevc'] as const)
          serve(
            `/${codec}.ts`,
            'video/mp2t',
            Buffer.concat([await part('advert', codec), await part('film', codec)]),
          );
        const first = await request(path);
        expect(first.status === 200 && first.complete).toBe(false);
        expect(await request(path)).toMatchObject({ status: 200, complete: true });
        await expectFilm();
      },
    );

    it('may come with another sample rate behind a discontinuity', async () => {
      const sound = ['-f', 'lavfi', '-i', 'sine=sample_rate=48000:duration=2', '-c:a', 'aac', '-ac', '2'];
      const video = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
      const name = 'advert-48000.ts';
      const advert = await made(name, { args: [...white(sizes.advert), ...sound, ...video, name] });
      serve(`/parts/${name}`, 'video/mp2t', await readFile(advert));
      servePlaylist('/rates.m3u8', '#EXT-X-DISCONTINUITY\n', ['film', 'advert-48000', 'film']);
      const { status, complete } = await request('/rates.m3u8');
      expect({ status, complete }).toEqual({ status: 200, complete: true });
      const { streams } = await inspect(output);
      expect(streams).toMatchObject([{ width: 640, nb_read_frames: 150 }, { codec_name: 'aac' }]);
      expect(streams[1]?.duration).toBeGreaterThan(6);
    });

    it('may come with another sample rate in one file', async () => {
      const sine = ['-f', 'lavfi', '-i', 'sine=sample_rate=48000:duration=2', '-c:a', 'aac'];
      const video = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
      const name = 'film-48000.ts';
      const other = await readFile(
        await made(name, { args: [...white(sizes.film), ...sine, ...video, name] }),
      );
      const film = await part('film');
      serve('/rates.ts', 'video/mp2t', Buffer.concat([film, film, other, other]));
      const sound = `${service.url}/api/stream?url=${encodeURIComponent(`${site.url}/rates.ts`)}`;
      expect(await receive(sound)).toMatchObject({ status: 200, complete: true });
      await request('/rates.ts');
      expect(await request('/rates.ts')).toMatchObject({ status: 200, complete: true });
    });

    it('do not prevent an MP3 or clips if each part has its own header', async () => {
      const entries: string[] = [];
      for (const name of ['film', 'advert'] as const) {
        const file = join(folder, `${name}.ts`);
        await writeFile(file, await part(name));
        const fragments = ['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', `${name}-init.mp4`];
        const list = join(folder, `${name}.m3u8`);
        await execa('ffmpeg', [
          ...ffmpeg,
          '-i',
          file,
          '-c',
          'copy',
          '-bsf:a',
          'aac_adtstoasc',
          ...fragments,
          list,
        ]);
        for (const piece of [`${name}-init.mp4`, `${name}0.m4s`])
          serve(`/${piece}`, 'video/mp4', await readFile(join(folder, piece)));
        entries.push(`#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI="${name}-init.mp4"\n#EXTINF:2,\n${name}0.m4s\n`);
      }
      const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n${entries.join('')}#EXT-X-ENDLIST\n`;
      serve('/fragments.m3u8', 'application/vnd.apple.mpegurl', playlist);
      const sound = `${service.url}/api/stream?url=${encodeURIComponent(`${site.url}/fragments.m3u8`)}`;
      expect(await receive(sound)).toMatchObject({ status: 200, complete: true });
      expect(await request('/fragments.m3u8', '&end=1')).toMatchObject({ status: 200, complete: true });
      const { status, body } = await request('/fragments.m3u8');
      expect({ status, problem: body.toString() }).toMatchObject({
        status: 422,
        problem: expect.stringContaining('Request an MP3') as string,
      });
    });

    it('are copied if a clip has one size', async () => {
      servePlaylist('/clip.m3u8', '#EXT-X-DISCONTINUITY\n');
      expect(await request('/clip.m3u8', '&start=2')).toMatchObject({ status: 200, complete: true });
      const { streams } = await inspect(output);
      expect(streams).toMatchObject([{ width: 640, height: 360, nb_read_frames: 50 }, {}]);
    });
  });
});
