import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Faults, media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { execa } from 'execa';
import type { MediaTools } from '../../src/ffmpeg/tools.js';
import { mediaTools } from '../support/media-tools.js';
import { childBoxes, makeBox } from '../../src/formats/mp4/box.js';
import { remuxLayout } from '../../src/formats/mp4/remux/remux.js';
import { filmOf, words } from '../parser-process/smallest-units.js';
import { inspect } from '../media/support/inspect.js';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { receive, type Received } from './support/receive.js';
import { extraction, format, StreamApp, stopSharedParsers } from './support/stream-app.js';

afterAll(stopSharedParsers);

let site: Site;
let folder: string;
let tools: MediaTools;
/** Media tools that don't exist, so that only a remuxed file can be sent. */
let noTools: MediaTools;

beforeAll(async () => {
  site = await startSite({ intercept: new Faults().intercept });
  folder = await mkdtemp(join(tmpdir(), 'video-dl-remuxed-'));
  tools = await mediaTools();
  noTools = { ...tools, ffmpeg: '/bin/false', ffprobe: '/bin/false' };
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const video = { audioCodec: null, hasAudio: false };
const audio = { id: '2', videoCodec: null, hasVideo: false };

/** Files of a page, by name: one with everything, or video and audio. Names may have a query with faults. */
async function app(names: readonly string[], appTools = noTools): Promise<StreamApp> {
  const formats = names.map((name, index) =>
    format(`${site.url}/${name.includes('/') ? name : `media/${name}`}`, {
      ext: 'mp4',
      ...(names.length === 1 ? {} : index === 0 ? video : audio),
    }),
  );
  return new StreamApp(appTools, extraction(formats)).start();
}

let outputs = 0;

async function save({ body }: Received): Promise<string> {
  outputs += 1;
  const file = join(folder, `${outputs}.mp4`);
  await writeFile(file, body);
  return file;
}

/** Times, sizes and hashes of all packets of a track. */
async function packets(file: string, track: 'v' | 'a'): Promise<string[]> {
  const { stdout } = await execa('ffmpeg', [
    ...['-hide_banner', '-loglevel', 'error', '-i', file, '-map', `0:${track}`],
    ...['-c', 'copy', '-f', 'framemd5', '-'],
  ]);
  return stdout.split('\n').filter((line) => !line.startsWith('#'));
}

const files: [string, string[]][] = [
  ['separate video and audio', ['video-alone.mp4', 'audio-alone.m4a']],
  ['separate video and audio in indexed fragments', ['video-indexed.mp4', 'audio-indexed.m4a']],
  ...atNight<[string, string[]]>([
    ['a QuickTime file', ['long.mov']],
    ['a QuickTime file with its index first', ['long-qt.mp4']],
  ]),
];

describe.each(files)('%s', (_what, names) => {
  it('becomes an MP4 with the same packets, of a stated length', async () => {
    await using service = await app(names);
    const answer = await receive(service.url('mp4-1080'));
    expect(answer).toMatchObject({ status: 200, complete: true });
    expect(answer.headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(answer.body.length),
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[\w-]{27}"$/u) as string,
    });
    const file = await save(answer);
    const sources = await Promise.all(names.map(media));
    expect(await packets(file, 'v')).toEqual(await packets(sources[0] ?? '', 'v'));
    expect(await packets(file, 'a')).toEqual(await packets(sources.at(-1) ?? '', 'a'));
    const { format: container, streams } = await inspect(file);
    expect(container.tags).toMatchObject({ title: 'Ein Täst', artist: 'Someone', major_brand: 'isom' });
    const frames = async (path: string) =>
      (await inspect(path)).streams.map(({ nb_read_frames: count }) => count);
    expect(streams.map(({ nb_read_frames: count }) => count)).toEqual(
      (await Promise.all(sources.map(frames))).flat(),
    );
    expect(Math.abs((container.duration ?? 0) - 20)).toBeLessThan(0.05);
  });

  it('has the same headers for HEAD and GET', async () => {
    await using service = await app(names);
    const head = await receive(service.url('mp4-720'), { method: 'HEAD' });
    const get = await receive(service.url('mp4-720'));
    for (const name of ['content-length', 'content-type', 'accept-ranges', 'etag', 'content-disposition'])
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
  });

  it('supports every range', async () => {
    await using service = await app(names);
    const { body, headers } = await receive(service.url('mp4-720'));
    const size = body.length;
    const header = body.indexOf('mdat') + 4;
    for (const [start, end] of [
      [0, 0],
      [10, header + 10],
      [header, header],
      [1_000_003, 3_000_001],
      [size - 1000, size - 1],
      [2_345_678, size - 1],
    ] as const) {
      const part = await receive(service.url('mp4-720'), {
        headers: { range: `bytes=${start}-${end}`, 'if-range': headers.etag ?? '' },
      });
      expect(part).toMatchObject({ status: 206, complete: true });
      expect(part.headers['content-range']).toBe(`bytes ${start}-${end}/${size}`);
      expect(part.body.equals(body.subarray(start, end + 1))).toBe(true);
    }
  });

  it.each(names.map((name, index) => [name, index]))(
    'never ends cleanly when %s ends early',
    async (_name, broken) => {
      const size = (await readFile(await media(names[broken] ?? ''))).length;
      const cut = (name: string, index: number) =>
        index === broken ? `${name}?cutEvery=${size - 2000}` : name;
      // Every attempt to continue breaks again, because the last 2000 bytes never come.
      const stuck = (name: string, index: number) =>
        index === broken ? `${name}?ignoreRange&cut=${size - 2000}` : name;
      await using resumed = await app(names.map(cut));
      expect(await receive(resumed.url('mp4-720'))).toMatchObject({ status: 200, complete: true });
      await using service = await app(names.map(stuck));
      const { status, complete } = await receive(service.url('mp4-720'));
      // An index at the end of the file is missing before the first byte.
      expect({ status, complete }).toEqual(
        names[broken] === 'long.mov' ? { status: 502, complete: true } : { status: 200, complete: false },
      );
    },
  );
});

it('reads only the missing bytes of each file when it is resumed', async () => {
  await using service = await app(['video-indexed.mp4', 'audio-indexed.m4a']);
  const { headers } = await receive(service.url('mp4-720'), { method: 'HEAD' });
  const before = site.requests.length;
  const total = Number(headers['content-length']);
  const resumed = await receive(service.url('mp4-720'), {
    headers: { range: `bytes=${total - 300_000}-`, 'if-range': headers.etag ?? '' },
  });
  expect(resumed.body).toHaveLength(300_000);
  const ranges = site.requests
    .slice(before)
    .map(({ headers: { range } }) => /=(\d+)-(\d+)/u.exec(range ?? ''));
  const bytes = ranges.reduce((sum, range) => sum + Number(range?.[2]) - Number(range?.[1]) + 1, 0);
  // A fragment is read from its beginning.
  expect(bytes).toBeLessThan(900_000);
});

it('is an error before the first byte when one of the files is missing', async () => {
  await using service = await app(['video-indexed.mp4', 'audio-indexed.m4a?status=404']);
  const { status, body } = await receive(service.url('mp4-720'));
  expect({ status, ...(JSON.parse(body.toString()) as object) }).toMatchObject({
    status: 404,
    code: 'video_not_found',
    retryable: false,
  });
});

it('is made anew when a file has changed since it was read', async () => {
  let version = 'audio-alone.m4a';
  site.on('/test/changing.m4a', async (req, res) => sendFile(req, res, await media(version), 'audio/mp4'));
  await using service = await app(['media/video-alone.mp4', 'test/changing.m4a']);
  const first = await receive(service.url('mp4-720'));
  version = 'sound.m4a';
  const second = await receive(service.url('mp4-720'), {
    headers: { range: 'bytes=5000-', 'if-range': first.headers.etag ?? '' },
  });
  expect(second).toMatchObject({ status: 200, complete: true });
  expect(await packets(await save(second), 'a')).toEqual(await packets(await media(version), 'a'));
});

describe('a video that shows all directions', () => {
  const projection = [
    makeBox('svhd', [words(0), Buffer.from('test\0')]),
    makeBox('proj', [makeBox('prhd', [words(0, 0, 0, 0)]), makeBox('equi', [words(0, 0, 0, 0, 0)])]),
  ];
  const xml =
    '<rdf:SphericalVideo xmlns:rdf="r" xmlns:GSpherical="s"><GSpherical:Spherical>true</GSpherical:Spherical><GSpherical:Stitched>true</GSpherical:Stitched><GSpherical:StitchingSoftware>test</GSpherical:StitchingSoftware><GSpherical:ProjectionType>equirectangular</GSpherical:ProjectionType></rdf:SphericalVideo>';
  const id = Buffer.from('ffcc8263f8554a938814587a02521fdd', 'hex');

  /** Appends a box to the first one at a path. */
  function withBox(box: Buffer, [next, ...path]: readonly string[], added: Buffer): Buffer {
    const type = box.toString('latin1', 4, 8);
    const skip = { stsd: 16, avc1: 86 }[type] ?? 8;
    const fields = box.subarray(8, skip);
    if (next === undefined) return makeBox(type, [fields, box.subarray(skip), added]);
    const children = childBoxes(box, skip);
    const changed = children.find((child) => child.type === next);
    return makeBox(type, [
      fields,
      ...children.map((child) => (child === changed ? withBox(child.bytes, path, added) : child.bytes)),
    ]);
  }

  it.each([
    ['in its sample description', ['mdia', 'minf', 'stbl', 'stsd', 'avc1'], makeBox('sv3d', projection)],
    ['in its track', [], makeBox('uuid', [id, Buffer.from(xml)])],
  ])('keeps the mark %s', async (_what, path, box) => {
    const boxes = childBoxes(await readFile(await media('end-qt.mp4')), 0);
    const file = boxes.map((each) =>
      each.type === 'moov' ? withBox(each.bytes, ['trak', ...path], box) : each.bytes,
    );
    const marked = join(folder, 'marked.mov');
    await writeFile(marked, Buffer.concat(file));
    site.on('/test/marked.mov', async (req, res) => sendFile(req, res, marked, 'video/mp4'));
    await using service = await app(['test/marked.mov']);
    const answer = await receive(service.url('mp4-720'));
    expect(answer).toMatchObject({ status: 200, complete: true });
    await using maker = await new StreamApp(
      tools,
      extraction([format(`${site.url}/test/marked.mov`)]),
    ).start();
    const made = await receive(maker.url('mp4-720'));
    expect(made.headers['content-length']).toBeUndefined();
    const probed = ['-v', 'error', '-show_entries', 'stream_side_data=projection', '-of', 'csv=p=0'];
    for (const file of [await save(answer), await save(made)]) {
      const { stdout } = await execa('ffprobe', [...probed, file]);
      expect(stdout).toContain('equirectangular');
    }
  });
});

describe('an index that differs from its fragments', () => {
  /** Requests the MP4 twice. @param change receives the index: its references follow two 64-bit times and their number */
  async function twice(name: string, change: (index: Buffer) => void): Promise<Received[]> {
    const file = Buffer.from(await readFile(await media('video-indexed.mp4')));
    const at = file.indexOf('sidx') - 4;
    expect(file.readUInt8(at + 8)).toBe(1);
    change(file.subarray(at));
    const path = join(folder, name);
    await writeFile(path, file);
    site.on(`/test/${name}`, async (req, res) => sendFile(req, res, path, 'video/mp4'));
    await using service = await app([`test/${name}`, 'media/audio-indexed.m4a'], tools);
    return [await receive(service.url('mp4-720')), await receive(service.url('mp4-720'))];
  }

  it('in its sizes ends in a reset, then in a whole file made by ffmpeg', async () => {
    const [first, second] = await twice('sizes.mp4', (index) => {
      index.writeUInt32BE(index.readUInt32BE(40) + 100, 40);
      index.writeUInt32BE(index.readUInt32BE(52) - 100, 52);
    });
    expect(first).toMatchObject({ status: 200, complete: false });
    expect(second).toMatchObject({ status: 200, complete: true });
    expect(second?.headers['content-length']).toBeUndefined();
  });

  it('in its duration always ends in a reset', async () => {
    const answers = await twice('duration.mp4', (index) => {
      index.writeUInt32BE(40 * index.readUInt32BE(16), 44);
    });
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, complete: false });
  });
});

describe('sample tables', () => {
  const tags = { title: '', artist: null, comment: '', chapters: [] };
  const layOut = (film: NonNullable<Parameters<typeof filmOf>[0]>, mediaBytes: number) => {
    // A box of size 0 extends to the end of the file.
    const media = Buffer.concat([Buffer.alloc(4), Buffer.from('mdat'), Buffer.alloc(8)]);
    const withMediaAt = (start: number) => {
      const moved = filmOf({ ...film, offsets: (film.offsets ?? [0]).map((offset) => offset + start) });
      return Buffer.concat([makeBox('ftyp', [Buffer.from('qt  ')]), makeBox('moov', moved), media]);
    };
    const bytes = withMediaAt(withMediaAt(0).length);
    const totalBytes = bytes.length + mediaBytes;
    return remuxLayout([{ pieces: [{ offset: 0, bytes, isEnd: false }], totalBytes }], tags);
  };
  const sample = 1_000_000_000;
  const offsets = [1, 2, 3, 4, 5].map((index) => index * sample);

  it('of more than 4 GiB get offsets of 64 bits', () => {
    const layout = layOut({ samples: 5, bytes: sample, offsets }, 6 * sample);
    const header = Buffer.from(layout?.header ?? []);
    const media = header.length;
    expect(header.readBigUInt64BE(media - 8)).toBe(BigInt(5 * sample + 16));
    const table = header.indexOf('co64') + 4;
    expect(header.readUInt32BE(table + 4)).toBe(5);
    for (const index of offsets.keys())
      expect(header.readBigUInt64BE(table + 8 + 8 * index)).toBe(BigInt(media + index * sample));
    expect(layout?.offsets).toHaveLength(1);
    expect([...(layout?.lengths ?? [])]).toEqual([5 * sample]);
  });

  it.each([
    ['that extend past the end of the file', { bytes: 1000 }, 900],
    ['whose chunks are in another order', { samples: 2, bytes: 10, offsets: [500, 0] }, 2000],
    ['whose chunks overlap', { samples: 2, bytes: 10, offsets: [0, 5] }, 2000],
    ['of tracks that share their samples', { bytes: 10, handlers: ['vide', 'soun'] }, 2000],
    ['of several videos', { bytes: 10, handlers: ['vide', 'vide'] }, 2000],
    ['of audio alone', { bytes: 10, handlers: ['soun'] }, 2000],
    ['of encrypted video', { bytes: 10, entry: 'encv' }, 2000],
    ['of media in another file', { bytes: 10, isExternal: true }, 2000],
    ['of media at twice the speed', { bytes: 10, editRate: 0x2_0000 }, 2000],
  ])('%s are left to ffmpeg', (_what, film, mediaBytes) => {
    expect(layOut({ bytes: 10 }, 2000)).not.toBeNull();
    expect(layOut(film, mediaBytes)).toBeNull();
  });
});

describe('ffmpeg makes the MP4', () => {
  it.each([
    ['of files with several audio tracks', ['long-dubbed.mp4']],
    ['of a file whose server states no length', ['long-qt.mp4?chunked&ignoreRange']],
    ['of a file with fragments of both tracks', ['fragments.mp4']],
    ['of one file with fragments and one without', ['video-alone.mp4', 'audio-indexed.m4a']],
  ])('%s', async (_what, names) => {
    await using service = await app(names, tools);
    const { status, complete, headers } = await receive(service.url('mp4-720'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(headers['content-length']).toBeUndefined();
  });
});
