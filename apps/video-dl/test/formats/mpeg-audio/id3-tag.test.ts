import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { coverFrom } from '../../../src/formats/cover.js';
import { makeId3Tag } from '../../../src/formats/mpeg-audio/id3-tag.js';
import { mp3Arguments } from '../../../src/ffmpeg/arguments.js';
import { FileServer } from '../../media/support/file-server.js';
import { collect, inspect } from '../../media/support/inspect.js';
import { Samples } from '../../media/support/samples.js';

let samples: Samples;
let server: FileServer;
let frames: Buffer;

beforeAll(async () => {
  samples = await Samples.create();
  server = await FileServer.start(samples.folder);
  await samples.get('audio.m4a');
  const audio = { action: 'transcode', codec: 'aac' } as const;
  const input = { url: `${server.url}/audio.m4a`, kind: 'file' } as const;
  frames = Buffer.concat((await collect(mp3Arguments(input, audio, {}))).chunks);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await samples[Symbol.asyncDispose]();
});

async function tagged(tag: Buffer): Promise<string> {
  const file = join(samples.folder, 'tagged-output.mp3');
  await writeFile(file, Buffer.concat([tag, frames]));
  return file;
}

/** Size field of the header: 28 bits, 7 per byte (id3v2.3 3.1). */
function declaredSize(tag: Buffer): number {
  return tag.subarray(6, 10).reduce((sum, byte) => sum * 128 + byte, 0);
}

describe('makeId3Tag', () => {
  it('states its exact size', async () => {
    const cover = coverFrom(await readFile(await samples.get('cover.png')));
    const tag = makeId3Tag({ title: 'Title', cover });
    expect(tag.toString('latin1', 0, 3)).toBe('ID3');
    expect(declaredSize(tag)).toBe(tag.length - 10);
    expect(frames.readUInt16BE(0) & 0xffe0).toBe(0xffe0);
  });

  it('leaves out marks that reorder the text around the title', async () => {
    const file = await tagged(makeId3Tag({ title: '\u202bشعر\u202c by \u2066A\u2069' }));
    expect((await inspect(file)).format.tags).toMatchObject({ title: 'شعر by A' });
  });

  it('states its exact size with chapters, and keeps the first 255', async () => {
    const chapters = Array.from({ length: 300 }, (_, index) => ({
      title: `日本 ${index}`,
      startSeconds: index,
      endSeconds: index + 1,
    }));
    const tag = makeId3Tag({ title: 'Title', chapters });
    expect(declaredSize(tag)).toBe(tag.length - 10);
    const { stdout } = await execa('ffprobe', [
      ...['-v', 'error', '-show_chapters', '-of', 'csv=p=0', await tagged(tag)],
    ]);
    const lines = stdout.split('\n');
    expect(lines).toHaveLength(255);
    expect(lines[254]).toContain('254.000000,255000,255.000000,日本 254');
  });

  it('is read back by ffprobe: Unicode title, artist, length, source', async () => {
    const file = await tagged(
      makeId3Tag({
        title: 'Ünï 日本 🎬',
        uploader: 'Ärtist',
        durationSeconds: 8,
        webpageUrl: 'https://example.com/watch?v=ä#x',
      }),
    );
    const { format, streams } = await inspect(file);
    expect(format.tags).toMatchObject({ title: 'Ünï 日本 🎬', artist: 'Ärtist', TLEN: '8000' });
    expect(streams).toHaveLength(1);
    expect(
      makeId3Tag({ title: 'x', webpageUrl: 'https://example.com/watch?v=ä' }).toString('latin1'),
    ).toContain('WOAS\u0000\u0000\u0000\u0022\u0000\u0000https://example.com/watch?v=%C3%A4');
  });

  it.each(['cover.png', 'cover.jpg'] as const)('carries %s as the front cover', async (name) => {
    const file = await tagged(
      makeId3Tag({ title: 'T', cover: coverFrom(await readFile(await samples.get(name))) }),
    );
    const cover = (await inspect(file)).streams.find(({ codec_type }) => codec_type === 'video');
    expect(cover).toMatchObject({
      codec_name: name === 'cover.png' ? 'png' : 'mjpeg',
      width: 64,
      height: 64,
    });
    expect(cover?.disposition.attached_pic).toBe(1);
  });

  it.each([
    ["that isn't an image", Buffer.from('<html>not found</html>')],
    ['that is WebP', Buffer.from('RIFF\u0000\u0000\u0000\u0000WEBPVP8 ')],
    ['that is empty', Buffer.alloc(0)],
    ['over 512 KB', Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.alloc(512 * 1024)])],
  ])('omits a cover %s', (_, cover) => {
    expect(coverFrom(cover)).toBeNull();
  });

  it('omits unknown fields', () => {
    const text = makeId3Tag({ title: 'T', uploader: null, durationSeconds: null, webpageUrl: null }).toString(
      'latin1',
    );
    expect(text).not.toMatch(/TPE1|TLEN|WOAS|APIC/u);
  });

  it('does not affect the audio after it', async () => {
    const file = await tagged(makeId3Tag({ title: 'T'.repeat(2000) }));
    const { stderr } = await execa('ffmpeg', [
      '-hide_banner',
      '-loglevel',
      'error',
      '-nostdin',
      '-i',
      file,
      '-f',
      'null',
      '-',
    ]);
    expect(stderr).toBe('');
  });
});
