import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hdrOptions, type Site, startSite } from '@media-services/fault-site';
import { execa } from 'execa';
import { type Box, childBoxes, findBox } from '../../src/formats/mp4/box.js';
import { otherBuilds } from '../support/media-tools.js';
import { startService, type TestService } from '../support/service.js';
import { receive } from './support/receive.js';

/** What Apple's and hardware players demand of an MP4 (docs/internals/players.md). */

let site: Site;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-players-'));
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Movie {
  readonly body: Buffer;
  readonly boxes: readonly Box[];
  readonly moov: Box;
  readonly tracks: readonly Box[];
}

/** The MP4 that the service sends for a file. */
async function movieOf(path: string, clip = '', { url: base } = service): Promise<Movie> {
  const url = encodeURIComponent(`${site.url}${path}`);
  const { status, complete, body } = await receive(`${base}/api/stream/video?url=${url}${clip}`);
  expect({ status, complete }).toEqual({ status: 200, complete: true });
  const boxes = childBoxes(body, 0);
  const moov = boxes.find(({ type }) => type === 'moov');
  if (moov === undefined) throw new Error('the MP4 has no moov');
  return { body, boxes, moov, tracks: childBoxes(moov.bytes).filter(({ type }) => type === 'trak') };
}

function boxIn(parent: Box, ...path: readonly string[]): Buffer {
  const box = findBox(parent, ...path);
  if (box === undefined) throw new Error(`no ${path.join('/')}`);
  return box.bytes;
}

const sampleTable = ['mdia', 'minf', 'stbl', 'stsd'];
/** After the header and the number of entries. */
const entriesOf = (track: Box): Box[] => childBoxes(boxIn(track, ...sampleTable), 16);
/** The content of a box somewhere in a sample entry. */
const contentOf = ({ bytes }: Box, type: string): Buffer => bytes.subarray(bytes.indexOf(type) + 4);
const handlerOf = (track: Box): string => boxIn(track, 'mdia', 'hdlr').toString('latin1', 16, 20);

function trackOf({ tracks }: Movie, handler: 'vide' | 'soun'): Box {
  const track = tracks.find((each) => handlerOf(each) === handler);
  if (track === undefined) throw new Error(`no track of ${handler}`);
  return track;
}

/** Of version 0 or 1, which has longer times. @param at its offset in version 0 */
const lengthIn = (box: Buffer, at: number): number =>
  box[8] === 1 ? Number(box.readBigUInt64BE(at + 8)) : box.readUInt32BE(at);

/** Serves a file that ffmpeg makes, changed by `change`. */
async function serve(
  name: string,
  args: readonly string[],
  change: (file: Buffer) => void = () => undefined,
): Promise<string> {
  const made = join(folder, name);
  const inputs = ['testsrc2=size=320x180:rate=25:duration=2', 'sine=440:d=2'];
  await execa('ffmpeg', [
    ...['-v', 'error', '-y', ...inputs.flatMap((input) => ['-f', 'lavfi', '-i', input])],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', '-movflags', '+faststart', ...args, made],
  ]);
  const body = await readFile(made);
  change(body);
  await writeFile(made, body);
  site.on(`/${name}`, async (_req, res) => {
    res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': body.length }).end(body);
    return Promise.resolve();
  });
  return `/${name}`;
}

const ways = [
  ['passed on', '/media/front.mp4', ''],
  ['remuxed', '/media/end-qt.mp4', ''],
  ['made', '/media/h264.mkv', ''],
  ['joined', '/media/hls-ts/index.m3u8', ''],
  ['cut at key frames', '/media/front.mp4', '&start=2'],
  ['encoded', '/media/vp8.webm', ''],
] as const;

describe.each(ways)('an MP4 that is %s', (_way, path, clip) => {
  let movie: Movie;
  beforeAll(async () => {
    movie = await movieOf(path, clip);
  });

  it('begins with ftyp and has its header before its media', () => {
    const types = movie.boxes.map(({ type }) => type);
    expect(types[0]).toBe('ftyp');
    expect(types.indexOf('moov')).toBeLessThan(types.indexOf('mdat'));
  });

  it('has one sample entry per track', () => {
    expect(movie.tracks.map((track) => boxIn(track, ...sampleTable).readUInt32BE(12))).toEqual(
      movie.tracks.map(() => 1),
    );
  });

  it('states its length in the tracks, but for fragments not in the media header', () => {
    const isFragmented = findBox(movie.moov, 'mvex') !== undefined;
    for (const track of movie.tracks) {
      const lengths = [lengthIn(boxIn(track, 'tkhd'), 28), lengthIn(boxIn(track, 'mdia', 'mdhd'), 24)];
      expect(lengths.map((length) => length > 0)).toEqual([true, !isFragmented]);
    }
  });

  it('has H.264 of 8 bits with its parameter sets in the header', () => {
    const [entry] = entriesOf(trackOf(movie, 'vide'));
    if (entry === undefined) throw new Error('no sample entry');
    const config = contentOf(entry, 'avcC');
    expect(entry.type).toBe('avc1');
    expect([66, 77, 100]).toContain(config[1]);
    // Level 4.2: what most televisions and phones decode.
    expect(config[3]).toBeLessThanOrEqual(42);
    expect((config[5] ?? 0) & 0x1f).toBeGreaterThan(0);
  });

  it('starts its audio and its video together, after their edit lists', async () => {
    const { stdout } = await execa(
      'ffprobe',
      ['-v', 'error', '-show_entries', 'stream=start_time', '-of', 'csv=p=0', '-'],
      {
        input: movie.body,
      },
    );
    for (const start of stdout.split('\n')) expect(Math.abs(Number(start))).toBeLessThan(0.03);
  });
});

it('AAC from a transport stream has no ADTS headers in MP4', async () => {
  const movie = await movieOf('/media/hls-ts/index.m3u8');
  const [entry] = entriesOf(trackOf(movie, 'soun'));
  expect(entry?.type).toBe('mp4a');
  const { stdout } = await execa(
    'ffprobe',
    [
      ...[
        '-v',
        'error',
        '-select_streams',
        'a',
        '-show_entries',
        'packet=data',
        '-show_data',
        '-read_intervals',
        '%+#1',
        '-',
      ],
    ],
    { input: movie.body },
  );
  expect(stdout).not.toMatch(/00000000: fff[19]/u);
});

describe('video with its parameter sets in the media alone', () => {
  it.each([
    [
      'hev1',
      'hvc1',
      'hvcC',
      ['-c:v', 'libx265', '-x265-params', 'repeat-headers=1:log-level=error', '-tag:v', 'hev1'],
    ],
    ['avc3', 'avc1', 'avcC', ['-c:v', 'libx264', '-x264-params', 'repeat-headers=1', '-tag:v', 'avc3']],
  ])('%s becomes %s with the sets in its %s', async (name, tag, config, args) => {
    const empty = (file: Buffer): void => {
      const at = file.indexOf(config) + 4;
      // The numbers of arrays, or of sequence and picture parameter sets.
      if (config === 'hvcC') file.writeUInt8(0, at + 22);
      else file.writeUInt16BE(0xe0_00, at + 5);
    };
    const movie = await movieOf(await serve(`${name}.mp4`, args, empty));
    const [entry] = entriesOf(trackOf(movie, 'vide'));
    if (entry === undefined) throw new Error('no sample entry');
    expect(entry.type).toBe(tag);
    const content = contentOf(entry, config);
    const sets = config === 'hvcC' ? content[22] : (content[5] ?? 0) & 0x1f;
    expect(sets).toBeGreaterThan(0);
  });

  // Newer versions of ffmpeg add a sample entry.
  it.each(otherBuilds())('has one sample entry with the $build ffmpeg', async ({ ffmpeg }) => {
    await using other = await startService({ ALLOWED_PRIVATE_SOURCES: site.host, FFMPEG_PATH: ffmpeg });
    const path = await serve('repeated.mp4', [
      '-c:v',
      'libx265',
      '-x265-params',
      'log-level=error',
      '-tag:v',
      'hev1',
    ]);
    const movie = await movieOf(path, '', other);
    expect(entriesOf(trackOf(movie, 'vide')).map(({ type }) => type)).toEqual(['hvc1']);
  });
});

it.each(['smpte2084', 'arib-std-b67'])(
  'video in %s that is encoded is tagged BT.709, and white is light',
  async (transfer) => {
    // Reference white: 58 % of PQ, 75 % of HLG.
    const grey = transfer === 'smpte2084' ? '0x949494' : '0xbfbfbf';
    const args = ['-c:v', 'libx264', ...hdrOptions(transfer, `drawbox=color=${grey}:t=fill`)];
    const movie = await movieOf(await serve(`${transfer}.mp4`, args), '&start=0.3');
    const file = join(folder, `${transfer}-output.mp4`);
    await writeFile(file, movie.body);
    const described = [
      '-select_streams',
      'v',
      '-show_entries',
      'stream=pix_fmt,color_transfer',
      '-of',
      'csv=p=0',
      file,
    ];
    expect((await execa('ffprobe', ['-v', 'error', ...described])).stdout).toBe('yuv420p,bt709');
    const frame = [
      '-v',
      'error',
      '-i',
      file,
      '-frames:v',
      '1',
      '-vf',
      'format=gray,scale=1:1',
      '-f',
      'rawvideo',
      '-',
    ];
    const { stdout } = await execa('ffmpeg', frame, { encoding: 'buffer' });
    expect(stdout[0]).toBeGreaterThan(200);
  },
);
