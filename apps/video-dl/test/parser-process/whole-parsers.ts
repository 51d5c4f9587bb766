import { makeBox } from '../../src/formats/mp4/box.js';
import { readManifest } from '../../src/manifests/dash-manifest.js';
import { dashTable } from '../../src/manifests/dash-segments.js';
import { readFfprobeReport } from '../../src/parser-process/ffprobe-report.js';
import { readPlaylist } from '../../src/manifests/hls-playlist.js';
import { readHead } from '../../src/formats/head.js';
import { initialisationDigest } from '../../src/formats/mp4/head.js';
import { remuxLayout, windowLayout } from '../../src/formats/mp4/remux/remux.js';
import { readSubtitles } from '../../src/formats/subtitles/read.js';
import { adts, checksummedPage, emptyFragment, filmOf, movie, movieHead } from './smallest-units.js';

/** A parser of input that arrives whole. It runs in a process that can crash without the service. */
export interface WholeParser {
  readonly name: string;
  /** The files below `src/` that this covers. */
  readonly files: readonly string[];
  readonly parse: (input: Buffer) => unknown;
  /** The most expensive inputs of about this many bytes. */
  readonly inputs: Readonly<Record<string, (bytes: number) => Buffer>>;
}

const base = 'https://outside.example/hls/index.m3u8';
const maxSegments = 10_000;
const text = (make: (bytes: number) => string) => (bytes: number) => Buffer.from(make(bytes));
const mpd = (content: string) =>
  `<MPD mediaPresentationDuration="PT9S"><Period><AdaptationSet mimeType="video/mp4">${content}</AdaptationSet></Period></MPD>`;
const free = makeBox('free', []);
const repeated = (unit: Buffer, bytes: number) =>
  Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit);

const file = (parts: Buffer[]) =>
  Buffer.concat([
    makeBox('ftyp', [Buffer.from('isom')]),
    makeBox('moov', parts),
    makeBox('mdat', [Buffer.alloc(16)]),
  ]);

/** A segment with a duration and one cluster. */
function matroska(cluster: Buffer): Buffer {
  const info = Buffer.from('1549a9668b44898840e3880000000000', 'hex');
  const content = Buffer.concat([info, Buffer.from('1f43b67501ffffffffffffff', 'hex'), cluster]);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(0x0100_0000_0000_0000n + BigInt(content.length));
  return Buffer.concat([Buffer.from('1a45dfa38018538067', 'hex'), size, content]);
}

const noTags = { title: '', artist: null, comment: '', chapters: [] };

const wholeFile = (bytes: Buffer) => ({
  pieces: [{ offset: 0, bytes, isEnd: true }],
  totalBytes: bytes.length,
});

const sampleTables: WholeParser['inputs'] = {
  'samples of no bytes': (bytes) => file(filmOf({ samples: Math.floor(bytes / 4) })),
  'a chunk for each sample': (bytes) =>
    file(filmOf({ samples: Math.floor(bytes / 8), offsets: Array<number>(Math.floor(bytes / 8)).fill(0) })),
  'durations of no samples': (bytes) => file(filmOf({ emptyDurations: Math.floor(bytes / 8) })),
  'a track of boxes of nothing': (bytes) => file([movieHead(), makeBox('trak', [repeated(free, bytes)])]),
};

export const wholeParsers: readonly WholeParser[] = [
  {
    name: 'a reader of HLS playlists',
    files: [
      ...['manifests/hls-playlist.ts', 'manifests/hls-attributes.ts'],
      ...['manifests/hls-variants.ts', 'manifests/segment-table.ts'],
    ],
    parse: (input) => readPlaylist(input.toString(), { baseUrl: base, maxSegments }),
    inputs: {
      'attributes without an end': text((bytes) => `#EXTM3U\n#EXT-X-MAP:${'A'.repeat(bytes)}\n`),
      'attributes without values': text((bytes) => `#EXTM3U\n#EXT-X-MAP:${'A='.repeat(bytes / 2)}\n`),
      'empty lines': text((bytes) => `#EXTM3U${'\n'.repeat(bytes)}`),
      'beginnings of variables': text((bytes) => `#EXTM3U\n${`${'{$'.repeat(4000)}\n`.repeat(bytes / 8001)}`),
      'names of variables': text((bytes) => `#EXTM3U\n${`{$${'x'.repeat(8000)}\n`.repeat(bytes / 8003)}`),
      'spaces in a line': text((bytes) => `#EXTM3U\n#EXTINF:${' '.repeat(bytes)}x\n`),
    },
  },
  {
    name: 'a reader of WebVTT',
    files: ['formats/subtitles/read.ts', 'formats/subtitles/webvtt.ts', 'formats/subtitles/cues.ts'],
    parse: (input) => readSubtitles([input], 'vtt'),
    inputs: {
      cues: text((bytes) => '00:00.000 --> 00:01.000\na\n\n'.repeat(bytes / 27)),
      'times in one line': text((bytes) => '00:00.000 --> '.repeat(bytes / 14)),
      'beginnings of tags': text((bytes) => `00:00.000 --> 00:01.000\n${'<a'.repeat(bytes / 2)}`),
      'beginnings of braces': text((bytes) => `00:00.000 --> 00:01.000\n${'{\\'.repeat(bytes / 2)}`),
      'beginnings of entities': text((bytes) => `00:00.000 --> 00:01.000\n${'&#1'.repeat(bytes / 3)}`),
      'times of segments': text((bytes) => 'X-TIMESTAMP-MAP=MPEGTS:1,LOCAL:\n'.repeat(bytes / 32)),
    },
  },
  {
    name: "a reader of YouTube's captions",
    files: [],
    parse: (input) => readSubtitles([input], 'json3'),
    inputs: {
      events: text((bytes) => `{"events":[${'{"segs":[{"utf8":"a"}]},'.repeat(bytes / 24)}{}]}`),
    },
  },
  {
    name: 'a reader of TTML',
    files: ['formats/subtitles/ttml.ts'],
    parse: (input) => readSubtitles([input], 'ttml'),
    inputs: {
      paragraphs: text((bytes) => `<tt>${'<p begin="0s" end="1s">a</p>'.repeat(bytes / 28)}</tt>`),
      'line breaks': text((bytes) => `<tt><p begin="0s" end="1s">${'<br/>'.repeat(bytes / 5)}</p></tt>`),
      'elements in elements': text((bytes) => `<tt>${'<p>'.repeat(bytes / 3)}`),
    },
  },
  {
    name: 'a reader of DASH manifests',
    files: ['manifests/dash-manifest.ts', 'manifests/dash-representations.ts', 'manifests/dash-segments.ts'],
    parse: (input) =>
      dashTable(readManifest(input.toString(), 100_000), {
        url: base,
        wanted: { id: '1', kind: 'video', bandwidth: null },
        maxSegments,
      }),
    inputs: {
      'empty elements': text((bytes) => `<MPD>${'<a/>'.repeat(bytes / 4)}</MPD>`),
      'elements in elements': text((bytes) => `<MPD>${'<a>'.repeat(bytes / 3)}`),
      'many servers': text((bytes) => mpd('<BaseURL>http://x.example/</BaseURL>'.repeat(bytes / 40))),
    },
  },
  {
    name: 'a reader of the head of an MP4',
    files: [
      ...['formats/head.ts', 'formats/mp4/head.ts', 'formats/mp4/movie-essentials.ts'],
      ...['formats/mp4/movie-header.ts', 'formats/mp4/movie-summary.ts'],
      ...['formats/mp4/sample-entry.ts', 'formats/mp4/segment-index.ts'],
    ],
    parse: (input) => {
      initialisationDigest(input, false);
      readHead([{ offset: 0, bytes: input, isEnd: true }], input.length);
    },
    inputs: {
      'boxes of nothing': (bytes) => file([movieHead(), repeated(free, bytes)]),
      'tracks of nothing': (bytes) => file([movieHead(), repeated(makeBox('trak', []), bytes)]),
      'a track of boxes of nothing': (bytes) => file([movieHead(), makeBox('trak', [repeated(free, bytes)])]),
    },
  },
  {
    name: 'a reader of sample tables',
    files: [
      'formats/mp4/remux/remux.ts',
      ...['layout', 'samples', 'sample-tables', 'sample-description'].map(
        (name) => `formats/mp4/remux/${name}.ts`,
      ),
      ...['movie-boxes', 'fragments', 'source-tracks'].map((name) => `formats/mp4/remux/${name}.ts`),
    ],
    parse: (input) => remuxLayout([wholeFile(input)], noTags),
    inputs: sampleTables,
  },
  {
    name: 'a reader of the samples of a clip',
    files: ['formats/mp4/remux/window.ts', 'formats/mp4/remux/sample-times.ts'],
    parse: (input) =>
      windowLayout(
        [wholeFile(input)],
        {
          wanted: { video: true, audio: null },
          times: { startSeconds: 0.5, endSeconds: null, for: 'decoder' },
        },
        noTags,
      ),
    inputs: sampleTables,
  },
  {
    name: 'a reader of the lengths of files',
    files: [
      ...['formats/mpeg-audio/head.ts', 'formats/matroska/head.ts', 'formats/ogg/head.ts'],
      'formats/partial-file.ts',
    ],
    parse: (input) => readHead([{ offset: 0, bytes: input, isEnd: true }], input.length),
    inputs: {
      'frames of four bytes': (bytes) => repeated(Buffer.from('fff31000', 'hex'), bytes),
      'first bytes of ADTS': (bytes) => Buffer.concat([adts(), adts(), adts(), Buffer.alloc(bytes, 0xff)]),
      'pages of nothing': (bytes) => repeated(checksummedPage(), bytes),
      'tracks of nothing': (bytes) =>
        Buffer.concat([
          Buffer.from('1a45dfa38018538067ff1654ae6b1ffffffe', 'hex'),
          repeated(Buffer.from('ae80', 'hex'), bytes),
        ]),
      'blocks of Matroska': (bytes) => matroska(repeated(Buffer.from('a38400000000', 'hex'), bytes)),
      'durations of Matroska': (bytes) => matroska(repeated(Buffer.from('9b80', 'hex'), bytes)),
      'fragments of nothing': (bytes) => Buffer.concat([movie(), repeated(emptyFragment(), bytes)]),
    },
  },
  {
    name: 'a reader of what ffprobe prints',
    files: ['parser-process/ffprobe-report.ts'],
    parse: (input) => readFfprobeReport(input.toString()),
    inputs: {
      'lists in lists': text((bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
      'empty objects': text((bytes) => `[${'{},'.repeat(bytes / 3)}{}]`),
    },
  },
];
