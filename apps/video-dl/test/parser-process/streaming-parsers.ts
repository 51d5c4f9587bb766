import { Mp3FrameCounter } from '../../src/formats/mpeg-audio/frame-chain.js';
import { makeBox } from '../../src/formats/mp4/box.js';
import { FragmentRewriter } from '../../src/formats/mp4/remux/fragment-rewriter.js';
import { FragmentedMp4 } from '../../src/formats/mp4/fragmented-mp4.js';
import { FileStructure } from '../../src/formats/file-structure.js';
import { joinerFor } from '../../src/formats/joiner-for.js';
import { LeadingImage } from '../../src/formats/mpeg-ts/leading-image.js';
import { FirstFrame } from '../../src/formats/mpeg-ts/first-frame.js';
import { TransportPackets } from '../../src/formats/mpeg-ts/packets.js';
import { noise } from '../formats/support/noise.js';
import {
  adts,
  checksummedPage,
  emptyFragment,
  fragment,
  movie,
  packet,
  times,
  words,
} from './smallest-units.js';

/** A streaming parser. */
export interface StreamingParser {
  readonly name: string;
  /** The files below `src/` that this covers. */
  readonly files: readonly string[];
  /** Creates a parser. @returns a function that takes a chunk and throws when the bytes are rejected */
  readonly start: () => (chunk: Buffer) => unknown;
  /** The most expensive inputs for their size: the smallest valid units, the worst nesting. Each starts like a real file. */
  readonly inputs: Readonly<Record<string, () => Buffer>>;
}

const inputBytes = 1024 ** 2;

/** Repeats a unit up to this size. */
function many(unit: Buffer, bytes = inputBytes): Buffer {
  return Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit);
}

const after = (start: Buffer, unit: Buffer) => () => Buffer.concat([start, many(unit)]);

/** Reads everything as one segment after an ordinary one, so that the clock is known. */
function joiner(first: Buffer, isDiscontinuity = false) {
  return () => {
    const started = joinerFor(first, false);
    const facts = { seconds: 2, isRounded: true, initialisation: 0 };
    started.begin({ ...facts, isDiscontinuity: false });
    started.push(Buffer.from(first));
    started.end();
    started.begin({ ...facts, isDiscontinuity });
    return (chunk: Buffer) => started.push(Buffer.from(chunk));
  };
}

function fileStructure() {
  return () => {
    const structure = new FileStructure();
    let offset = 0;
    return (chunk: Buffer) => {
      structure.read(offset, chunk);
      offset += chunk.length;
    };
  };
}

const free = makeBox('free', []);
const track = (header = words(0x02_0000, 1)) => [
  makeBox('tfhd', [header]),
  makeBox('tfdt', [words(0, 1000)]),
];
const run = makeBox('trun', [words(0, 1)]);
/** A sample entry. @param boxes how many empty boxes it contains */
const entryOf = (boxes: number) => makeBox('mp4a', [Buffer.alloc(28), many(free, 8 * boxes)]);
/** A fragment just under a limit, followed by its media. */
const large = (bytes: number, parts: (room: number) => Buffer[]) => () =>
  Buffer.concat([makeBox('moof', parts(bytes - 1024)), makeBox('mdat', [Buffer.alloc(16)])]);
const limit = 1024 ** 2;

const fragmentInputs = (bytes: number) => ({
  'boxes of nothing': after(fragment(), free),
  'boxes that are left out': after(fragment(), Buffer.concat([makeBox('sidx', []), free])),
  'empty fragments': after(fragment(), emptyFragment()),
  'fragments of one sample': after(fragment(), fragment(1)),
  'a fragment of empty tracks': large(bytes, (room) => [many(makeBox('traf', [...track(), run]), room)]),
  'a fragment of boxes of nothing': large(bytes, (room) => [many(free, room)]),
  'a track of boxes of nothing': large(bytes, (room) => [makeBox('traf', [...track(), many(free, room)])]),
  'a track of runs': large(bytes, (room) => [makeBox('traf', [...track(), many(run, room)])]),
  'a run of samples': large(bytes, (room) => {
    const samples = Math.floor(room / 4);
    return [
      makeBox('traf', [...track(), makeBox('trun', [words(0x100, samples), Buffer.alloc(4 * samples)])]),
    ];
  }),
  'a run that says it has 4 billion samples': large(bytes, () => [
    makeBox('traf', [...track(), makeBox('trun', [words(0, 0xffff_ffff)])]),
  ]),
});

const element = Buffer.from('ec80', 'hex');
const matroska = Buffer.from('1a45dfa3801853806701ffffffffffffff', 'hex');
const cluster = Buffer.from('1f43b67501ffffffffffffff', 'hex');
const tables = Buffer.concat([packet.programs(1), packet.map(1)]);

export const streamingParsers: readonly StreamingParser[] = [
  {
    name: 'a joiner of transport streams',
    files: [
      'formats/mpeg-ts/join.ts',
      'formats/mpeg-ts/tracks.ts',
      'formats/mpeg-ts/picture-size.ts',
      'formats/crc32.ts',
      'formats/timeline.ts',
      'formats/joiner-for.ts',
      'formats/joiner.ts',
    ],
    start: joiner(Buffer.concat([tables, ...times(60).map((time) => packet.media(256, time))]), true),
    inputs: {
      'a time in every packet': () => Buffer.concat(times(14_000).map((time) => packet.media(256, time))),
      'a program clock in every packet': () => many(packet.clock(256), 3 * inputBytes),
      'parameters of video in every packet': () => many(packet.frame([0, 0, 1, 0x67, 66])),
      'only program tables': () => many(packet.programs(40)),
      'only program maps': () => many(Buffer.concat([packet.map(30), packet.map(29)])),
      '60 streams, of which none was there before': () =>
        Buffer.concat(times(14_000).map((time, index) => packet.media(1000 + (index % 60), time))),
      '5500 streams': () =>
        Buffer.concat(times(14_000).map((time, index) => packet.media(32 + (index % 5500), time))),
      padding: () => many(packet.padding()),
    },
  },
  {
    name: 'an image before a transport stream',
    files: ['formats/mpeg-ts/leading-image.ts'],
    start: () => {
      const image = new LeadingImage();
      return (chunk) => image.push(chunk);
    },
    inputs: {
      'an image that could end anywhere': () =>
        Buffer.concat([Buffer.from('BM'), Buffer.alloc(inputBytes, 0x47)]),
      'an image alone': () => Buffer.concat([Buffer.from('GIF8'), Buffer.alloc(inputBytes)]),
    },
  },
  {
    name: 'the first frame of a transport stream',
    files: ['formats/mpeg-ts/first-frame.ts'],
    start: () => {
      const frame = new FirstFrame();
      frame.push(packet.frame([]), 0x1b);
      return (chunk) => {
        for (let at = 0; at + 188 <= chunk.length; at += 188) frame.push(chunk.subarray(at, at + 188), 0x1b);
      };
    },
    inputs: {
      'units without a slice': () => many(packet.restOfFrame([0, 0, 1, 9])),
      'supplemental information': () => many(packet.restOfFrame([0, 0, 1, 6, 0, 0])),
      'nothing but zeros': () => many(packet.restOfFrame([0])),
    },
  },
  {
    name: 'a transport stream in one file',
    files: ['formats/mpeg-ts/packets.ts'],
    start: () => {
      const first = Buffer.concat([tables, ...times(60).map((time) => packet.media(256, time))]);
      const packets = new TransportPackets();
      packets.push(first);
      return (chunk) => packets.push(chunk);
    },
    inputs: {
      'only program tables': () => many(packet.programs(40)),
      'only program maps': () => many(Buffer.concat([packet.map(30), packet.map(29)])),
      'no packets': () => Buffer.alloc(inputBytes),
      padding: () => many(packet.padding()),
    },
  },
  {
    name: 'a joiner of fragmented MP4',
    files: [
      'formats/mp4/join.ts',
      'formats/mp4/box.ts',
      'formats/mp4/box-stream.ts',
      'formats/mp4/movie-header.ts',
    ],
    start: joiner(Buffer.concat([movie(), fragment()])),
    inputs: {
      ...fragmentInputs(limit),
      'a movie of as many boxes as allowed': () => movie(60, many(free, 8 * 60)),
      'a movie full of empty boxes': () => movie(200, many(free, 8 * 1000)),
      'sample descriptions of the largest size': () => movie(7, free, many(entryOf(1000), 9 * 1024)),
      'sample descriptions full of empty boxes': () => movie(60, free, many(entryOf(1000), 90 * 1024)),
    },
  },
  {
    name: 'a remuxed track of fragments',
    files: ['formats/mp4/remux/fragment-rewriter.ts'],
    start: () => {
      const rewriter = new FragmentRewriter(2, () => undefined);
      rewriter.begin({ number: 0, shiftBytes: 0 });
      return (chunk) => rewriter.push(Buffer.from(chunk));
    },
    inputs: fragmentInputs(limit),
  },
  {
    name: 'a joiner of Matroska',
    files: ['formats/matroska/join.ts', 'formats/matroska/ebml.ts'],
    start: joiner(Buffer.concat([matroska, cluster, Buffer.from('a380', 'hex')])),
    inputs: {
      'elements of two bytes': after(Buffer.concat([matroska, cluster]), element),
      'segments in segments': () => many(matroska),
      'clusters in clusters': after(matroska, cluster),
    },
  },
  {
    name: 'a joiner of packed audio',
    files: ['formats/mpeg-audio/join.ts', 'formats/mpeg-audio/info-frame.ts'],
    start: joiner(many(adts(), 7 * 100)),
    inputs: {
      'ADTS frames of 7 bytes': () => many(adts()),
      'a tag in front of every frame': () =>
        many(Buffer.concat([Buffer.from('49443304000000000000', 'hex'), adts()])),
      'MP3 frames of 24 bytes': () => many(Buffer.concat([Buffer.from('fff31440', 'hex'), Buffer.alloc(20)])),
      'a tag of 1 MiB': () => Buffer.concat([Buffer.from('4944330400000033', 'hex'), Buffer.alloc(limit)]),
    },
  },
  {
    name: 'a joiner of Ogg',
    files: ['formats/ogg/join.ts'],
    start: joiner(checksummedPage(2)),
    inputs: { 'first pages of nothing': () => many(checksummedPage(2)) },
  },
  {
    name: 'the output of ffmpeg as MP4',
    files: [
      ...['formats/mp4/fragmented-mp4.ts', 'formats/mp4/fragment-clock.ts'],
      ...['formats/mp4/fragment-boxes.ts', 'formats/mp4/movie-changes.ts'],
    ],
    start: () => {
      const output = new FragmentedMp4(() => 12);
      output.push(Buffer.concat([movie(), fragment()]));
      return (chunk) => output.push(chunk);
    },
    inputs: fragmentInputs(4 * limit),
  },
  {
    name: 'the output of ffmpeg as MP3',
    files: ['formats/mpeg-audio/frames.ts'],
    start: () => {
      const counter = new Mp3FrameCounter();
      return (chunk) => counter.push(chunk);
    },
    inputs: {
      'frames of 24 bytes': () => many(Buffer.concat([Buffer.from('fff31440', 'hex'), Buffer.alloc(20)])),
      noise: () => noise(inputBytes),
      'bits that are all set': () => Buffer.alloc(inputBytes, 0xff),
    },
  },
  {
    name: 'the structure of a single file',
    files: [
      'formats/file-structure.ts',
      'formats/structure-check.ts',
      'formats/mpeg-audio/frame-chain.ts',
      'formats/matroska/elements.ts',
      'formats/ogg/pages.ts',
      'formats/mp4/top-level-boxes.ts',
      'formats/riff/chunks.ts',
    ],
    start: fileStructure(),
    inputs: {
      'ADTS frames of 7 bytes': () => many(adts()),
      'MP3 frames of 24 bytes': () => many(Buffer.concat([Buffer.from('fff31440', 'hex'), Buffer.alloc(20)])),
      'frames, then zeros': () => Buffer.concat([many(adts(), 4096), Buffer.alloc(inputBytes)]),
      'frames, then the letters of tags': () => Buffer.concat([many(adts(), 4096), many(Buffer.from('IAL'))]),
      'tags of nothing': after(many(adts(), 700), Buffer.from('49443304000000000000', 'hex')),
      'APE tags of nothing': after(
        many(adts(), 700),
        Buffer.concat([Buffer.from('APETAGEX'), Buffer.alloc(24)]),
      ),
      'MP4 boxes of eight bytes': after(
        Buffer.from('000000106674797069736f6d00000000', 'hex'),
        Buffer.from('0000000866726565', 'hex'),
      ),
      'Matroska elements of two bytes': after(Buffer.concat([matroska, cluster]), element),
      'Matroska padded with zeros': () => Buffer.concat([matroska, Buffer.alloc(inputBytes)]),
      'Ogg pages of nothing': () => many(checksummedPage()),
      'Ogg padded with zeros': () => Buffer.concat([checksummedPage(), Buffer.alloc(inputBytes)]),
      'WAV chunks of nothing': after(Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.from('junk\0\0\0\0', 'latin1')),
    },
  },
];

/** Files that parse bytes, but aren't parsers of untrusted input. The reason says what limits them. */
export const otherFiles: Readonly<Record<string, string>> = {
  'formats/chapters.ts': 'a list of at most 250 chapters or 20,000 cues',
  'formats/schemas.ts': 'checks what our own parsers send',
  'formats/mp4/text-track.ts': 'writes',
  'formats/cover.ts': 'the first eight bytes of at most 512 KiB',
  'formats/mpeg-audio/id3-tag.ts': 'writes',
  'extract/engine.ts': 'parses what our own engine sends; schema and size are checked',
  'extract/update.ts': 'parses what pip prints about an update that the operator asked for',
  'extract/cache.ts': 'URLs of at most 8192 characters, by patterns in linear time',
  'extract/page-url.ts': 'a URL of at most 2048 characters',
  'extract/pasted-link.ts': 'a text of the request, in linear time',
  'parser-process/jobs.ts': 'schemas of results, each bounded',
  'parser-process/parser-pool.ts': 'the parent of the parser processes',
  'parser-process/parser-process.ts': 'the entry point of a parser process',
  'formats/codecs.ts': 'names of codecs, by patterns in linear time',
  'formats/media-head.ts': 'types',
  'formats/media-input.ts': 'types',
  'formats/probed.ts': 'types',
  'formats/rejection.ts': 'an error',
  'deliver/mp3-output.ts': 'the first frame of what our own ffmpeg makes',
};
