import { readFile } from 'node:fs/promises';
import { made, media, type Recipe } from '@media-services/fault-site';
import { FileStructure } from '../../src/formats/file-structure.js';
import { FrameChain } from '../../src/formats/mpeg-audio/frame-chain.js';
import { FormatWatch } from '../../src/formats/mpeg-audio/frames.js';
import { MatroskaElements } from '../../src/formats/matroska/elements.js';
import { MatroskaJoiner } from '../../src/formats/matroska/join.js';
import { DamagedMediaError } from '../../src/formats/structure-check.js';
import { noise, withNoise } from './support/noise.js';

const recipe = (...args: string[]): Recipe => ({
  args: [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25:duration=12'],
    ...['-f', 'lavfi', '-i', 'anoisesrc=color=pink:duration=12', ...args],
  ],
  durationSeconds: 12,
});
const sound = (name: string, ...args: string[]) => made(name, recipe('-map', '1:a', ...args, name));
const files: Readonly<Record<string, () => Promise<string>>> = {
  Matroska: () => media('long.mkv'),
  'WebM with Clusters of unknown size': () =>
    made(
      'live.webm',
      recipe(
        ...['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '1M'],
        ...['-c:a', 'libopus', '-live', '1', 'live.webm'],
      ),
    ),
  'MP3 with tags at both ends': () =>
    sound('tagged.mp3', '-metadata', 'title=x', '-write_id3v1', '1', '-b:a', '128k'),
  'MP3 of variable bit rate': () => sound('vbr.mp3', '-q:a', '2'),
  'MPEG-2 MP3': () => sound('low.mp3', '-ar', '22050', '-b:a', '128k'),
  ADTS: () => sound('sound.aac', '-c:a', 'aac', '-b:a', '128k'),
  Ogg: () => sound('sound.ogg', '-c:a', 'libvorbis', '-q:a', '6'),
};

async function bytesOf(name: string): Promise<Buffer> {
  const path = await files[name]?.();
  if (path === undefined) throw new Error(`no file of ${name}`);
  return readFile(path);
}

/** Reads a file from beginning to end, as it would arrive from a server. */
function read(bytes: Buffer, chunkBytes = 65_536): void {
  const structure = new FileStructure();
  for (let at = 0; at < bytes.length; at += chunkBytes)
    structure.read(at, bytes.subarray(at, at + chunkBytes));
}

const middleOf = ({ length }: Buffer): number => Math.floor(length / 2);

describe.each(Object.keys(files))('a file of %s', (name) => {
  it.each([65_536, 997])('passes, %d bytes at a time', async (chunkBytes) => {
    const bytes = await bytesOf(name);
    expect(() => read(bytes, chunkBytes)).not.toThrow();
  });

  it.each([65_536, 997])(
    'fails with 40 kB of random bytes inside, %d bytes at a time',
    async (chunkBytes) => {
      const bytes = await bytesOf(name);
      const damaged = withNoise(bytes, middleOf(bytes), 40_000);
      expect(() => read(damaged, chunkBytes)).toThrow(DamagedMediaError);
    },
  );

  it('passes if its end is read before its middle, and fails with random bytes after that', async () => {
    const bytes = await bytesOf(name);
    const damaged = withNoise(bytes, middleOf(bytes), 40_000);
    const structure = new FileStructure();
    structure.read(0, bytes.subarray(0, 50_000));
    structure.read(bytes.length - 5000, bytes.subarray(-5000));
    structure.read(20_000, bytes.subarray(20_000, middleOf(bytes)));
    expect(() => structure.read(middleOf(bytes), damaged.subarray(middleOf(bytes)))).toThrow(
      DamagedMediaError,
    );
  });
});

describe('bare frames', () => {
  it('change their format if several in a row state another one', () => {
    const changes = (...formats: number[]) => {
      const watch = new FormatWatch();
      return formats.map((format) => watch.hasChanged(format));
    };
    expect(changes(1, 1, 2, 1, 3, 2, 1)).not.toContain(true);
    expect(changes(1, 2, 2, 2, 2)).toEqual([false, false, false, true, true]);
  });

  const mp3 = (): Promise<Buffer> => bytesOf('MP3 with tags at both ends');
  const apeTag = (contentBytes: number): Buffer => {
    const header = Buffer.alloc(32);
    header.write('APETAGEX', 'latin1');
    header.writeUInt32LE(2000, 8);
    header.writeUInt32LE(contentBytes + 32, 12);
    header.writeUInt32LE(0xa000_0000, 20);
    const footer = Buffer.from(header);
    footer.writeUInt32LE(0x8000_0000, 20);
    return Buffer.concat([header, noise(contentBytes), footer]);
  };

  it.each<readonly [string, (bytes: Buffer) => Buffer[]]>([
    ['another file appended', (bytes) => [bytes, bytes]],
    ['a frame truncated by splicing', (bytes) => [bytes.subarray(0, 100_100), bytes.subarray(70_000)]],
    ['a large APE tag at its end', (bytes) => [bytes, apeTag(200_000)]],
    ['old tags of unknown length at its end', (bytes) => [bytes, noise(8000)]],
    ['zeros at its end', (bytes) => [bytes, Buffer.alloc(1_000_000)]],
  ])('pass with %s', async (_what, make) => {
    const bytes = Buffer.concat(make(await mp3()));
    expect(() => read(bytes)).not.toThrow();
  });

  it.each<readonly [string, (bytes: Buffer) => Buffer[]]>([
    ['zeros inside', (bytes) => [bytes.subarray(0, 100_000), Buffer.alloc(9000), bytes.subarray(109_000)]],
    [
      'text inside',
      (bytes) => [bytes.subarray(0, 100_000), Buffer.alloc(9000, 'x'), bytes.subarray(109_000)],
    ],
    ['random bytes up to the end', (bytes) => [bytes.subarray(0, 100_000), noise(40_000)]],
  ])('fail with %s', async (_what, make) => {
    const bytes = Buffer.concat(make(await mp3()));
    expect(() => read(bytes)).toThrow(DamagedMediaError);
  });

  it('are recognised from the middle of a file', async () => {
    const bytes = (await mp3()).subarray(100_123);
    expect(() => new FrameChain().push(bytes)).not.toThrow();
    const damaged = withNoise(bytes, 20_000, 40_000);
    expect(() => new FrameChain().push(damaged)).toThrow(DamagedMediaError);
  });

  it('in free format pass, because they do not state their length', () => {
    // MPEG-1 layer III, bit rate 0.
    expect(() => read(Buffer.concat([Buffer.from('fffb0064', 'hex'), noise(300_000)]))).not.toThrow();
  });
});

describe('Matroska', () => {
  const element = (id: string, content: Buffer): Buffer => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(0x1000_0000 + content.length);
    return Buffer.concat([Buffer.from(id, 'hex'), size, content]);
  };
  const block = element('a3', noise(500));
  const cluster = element('1f43b675', Buffer.concat([element('e7', Buffer.alloc(2)), block, block]));
  const file = (...content: Buffer[]): Buffer =>
    Buffer.concat([
      element('1a45dfa3', Buffer.alloc(20)),
      element('18538067', Buffer.concat([element('1549a966', noise(100)), ...content])),
    ]);

  it.each<readonly [string, Buffer]>([
    ['an unknown element', file(element('4321', noise(300)), cluster)],
    [
      'one in a Cluster',
      file(element('1f43b675', Buffer.concat([block, element('81', noise(20)), block])), cluster),
    ],
    ['reserved space', file(element('ec', Buffer.alloc(4000)), cluster)],
    ['data after the Segment', Buffer.concat([file(cluster), noise(1000)])],
    ['padding in the Segment', file(cluster, Buffer.alloc(9000))],
  ])('passes with %s', (_what, bytes) => {
    expect(() => read(bytes, 100)).not.toThrow();
  });

  it.each<readonly [string, Buffer]>([
    ['a block larger than its Cluster', file(element('1f43b675', block.subarray(0, -1)), cluster)],
    ['a Cluster with a gap after its blocks', file(element('1f43b675', Buffer.concat([block, noise(9)])))],
    ['another file after it', Buffer.concat([file(cluster), file(cluster)])],
    ['zeros between Clusters', file(cluster, Buffer.alloc(100), cluster)],
  ])('fails with %s', (_what, bytes) => {
    expect(() => read(bytes, 100)).toThrow(DamagedMediaError);
  });

  it('is joined with a checksum in a Cluster of unknown size', () => {
    const joiner = new MatroskaJoiner(true);
    const unknownSize = Buffer.from('1f43b67501ffffffffffffff', 'hex');
    const checksum = element('bf', noise(4));
    joiner.push(Buffer.concat([element('1a45dfa3', Buffer.alloc(20)), unknownSize, checksum, block]));
    expect(() => joiner.end()).not.toThrow();
  });
});

describe('joined Matroska files', () => {
  it('fail without stated sizes, too', async () => {
    const bytes = await bytesOf('WebM with Clusters of unknown size');
    expect(() => read(Buffer.concat([bytes, bytes]))).toThrow('several files');
  });

  it('pass where they are sent unchanged', async () => {
    const bytes = await bytesOf('Matroska');
    expect(() => new MatroskaElements(true).push(Buffer.concat([bytes, bytes]))).not.toThrow();
  });
});

describe('a file that overstates its length', () => {
  const wholeness = (bytes: Buffer, size = bytes.length) => {
    const structure = new FileStructure();
    for (let at = 0; at < bytes.length; at += 65_536) {
      structure.read(at, bytes.subarray(at, at + 65_536));
      structure.endsAt(size);
    }
    return structure.isWhole;
  };

  it.each(['long.mkv', 'numbered.ts'])('%s is whole once its end was read', async (name) => {
    const bytes = await readFile(await media(name));
    expect(wholeness(bytes)).toBe(true);
    expect(wholeness(bytes.subarray(0, middleOf(bytes)), bytes.length)).toBe(false);
  });

  it('is never proved to be whole where nothing says so', async () => {
    expect(wholeness(await readFile(await media('film.flv')))).toBe(false);
  });
});

describe.each([
  ['cut.avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame']],
  ['cut.wav', ['-map', '1:a']],
  ['cut-xing.mp3', ['-map', '1:a', '-metadata', 'title=x']],
])('%s, whose header states where its media end', (name, args) => {
  const through = async (share: number, chunkBytes: number) => {
    const whole = await readFile(await made(name, recipe(...args, name)));
    const bytes = whole.subarray(0, Math.floor(whole.length * share));
    const structure = new FileStructure();
    for (let at = 0; at < bytes.length; at += chunkBytes)
      structure.read(at, bytes.subarray(at, at + chunkBytes));
    structure.endsAt(bytes.length);
  };

  it.each([65_536, 997, 11])('passes as a whole, %d bytes at a time', async (chunkBytes) => {
    await expect(through(1, chunkBytes)).resolves.toBeUndefined();
  });

  it.each([65_536, 997, 11])('is damaged without its end, %d bytes at a time', async (chunkBytes) => {
    await expect(through(0.9, chunkBytes)).rejects.toThrow('its end is missing');
  });
});

it.each([0, 0x7fff_f000, 0xffff_ffff])(
  'a WAV of unknown size, written as %d, is not damaged',
  async (size) => {
    const bytes = await readFile(await made('cut.wav', recipe('-map', '1:a', 'cut.wav')));
    bytes.writeUInt32LE(size, bytes.indexOf('data') + 4);
    const structure = new FileStructure();
    structure.read(0, bytes);
    expect(() => structure.endsAt(bytes.length)).not.toThrow();
  },
);
