import { readFile } from 'node:fs/promises';
import { made, media, type Recipe } from '@media-services/fault-site';
import { FileStructure } from '../../dist/containers/structure/file-structure.js';
import { FrameChain } from '../../dist/containers/structure/frame-chain.js';
import { DamagedMediaError } from '../../dist/containers/structure/structure-check.js';
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
    made('live.webm', recipe('-c:v', 'libvpx', '-b:v', '1M', '-c:a', 'libopus', '-live', '1', 'live.webm')),
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

/** Reads a file from its beginning to its end, as it would come from a server. */
function read(bytes: Buffer, chunkBytes = 65_536): void {
  const structure = new FileStructure();
  for (let at = 0; at < bytes.length; at += chunkBytes)
    structure.read(at, bytes.subarray(at, at + chunkBytes));
}

const middleOf = ({ length }: Buffer): number => Math.floor(length / 2);

describe.each(Object.keys(files))('a file of %s', (name) => {
  it.each([65_536, 997])('passes whole, %d bytes at a time', async (chunkBytes) => {
    const bytes = await bytesOf(name);
    expect(() => read(bytes, chunkBytes)).not.toThrow();
  });

  it.each([65_536, 997])('is told with 40 kB of noise inside, %d bytes at a time', async (chunkBytes) => {
    const bytes = await bytesOf(name);
    const damaged = withNoise(bytes, middleOf(bytes), 40_000);
    expect(() => read(damaged, chunkBytes)).toThrow(DamagedMediaError);
  });

  it('passes where its end is read before its middle, and is told of noise behind that', async () => {
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
    ['another file behind it', (bytes) => [bytes, bytes]],
    ['a frame cut by splicing', (bytes) => [bytes.subarray(0, 100_100), bytes.subarray(70_000)]],
    ['a large APE tag at its end', (bytes) => [bytes, apeTag(200_000)]],
    ['old tags of unknown length at its end', (bytes) => [bytes, noise(8000)]],
    ['a text at its end', (bytes) => [bytes, Buffer.from('LYRICSBEGIN'), noise(50_000)]],
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
    ['noise up to the end', (bytes) => [bytes.subarray(0, 100_000), noise(40_000)]],
  ])('are told with %s', async (_what, make) => {
    const bytes = Buffer.concat(make(await mp3()));
    expect(() => read(bytes)).toThrow(DamagedMediaError);
  });

  it('are found from the middle of a file on', async () => {
    const bytes = (await mp3()).subarray(100_123);
    expect(() => new FrameChain().push(bytes)).not.toThrow();
    const damaged = withNoise(bytes, 20_000, 40_000);
    expect(() => new FrameChain().push(damaged)).toThrow(DamagedMediaError);
  });

  it('of free format pass, since they do not say how long they are', () => {
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
    ['an element that nobody knows', file(element('4321', noise(300)), cluster)],
    [
      'one in a Cluster',
      file(element('1f43b675', Buffer.concat([block, element('81', noise(20)), block])), cluster),
    ],
    ['reserved space', file(element('ec', Buffer.alloc(4000)), cluster)],
    ['a Segment behind it', Buffer.concat([file(cluster), noise(1000)])],
    ['padding in the Segment', file(cluster, Buffer.alloc(9000))],
  ])('passes with %s', (_what, bytes) => {
    expect(() => read(bytes, 100)).not.toThrow();
  });

  it.each<readonly [string, Buffer]>([
    ['a block larger than its Cluster', file(element('1f43b675', block.subarray(0, -1)), cluster)],
    ['a Cluster that its blocks do not fill', file(element('1f43b675', Buffer.concat([block, noise(9)])))],
    ['zeros between Clusters', file(cluster, Buffer.alloc(100), cluster)],
  ])('is told with %s', (_what, bytes) => {
    expect(() => read(bytes, 100)).toThrow(DamagedMediaError);
  });
});
