import { soundLength } from '../../dist/containers/mp4/sound-length.js';
import { summarizeMovie } from '../../dist/containers/mp4/movie-summary.js';
import { makeBox } from '../../dist/containers/mp4/box.js';
import { readMovieHeader, withMovieDuration } from '../../dist/containers/mp4/movie-header.js';
import { chooseTracks, segmentsOf } from '../../dist/relay/dash/manifest-segments.js';
import { readManifest } from '../../dist/relay/dash/read-manifest.js';
import { parsePlaylist } from '../../dist/relay/hls/parse-playlist.js';
import { words } from './smallest-units.js';

/** A parser of input that arrives whole. */
export interface WholeParser {
  readonly name: string;
  /** The files below `src/` that this proves. */
  readonly files: readonly string[];
  readonly parse: (input: Buffer) => unknown;
  /** What costs most for its size, made of about so many bytes. */
  readonly inputs: Readonly<Record<string, (bytes: number) => Buffer>>;
}

const base = 'https://outside.example/hls/index.m3u8';
const maxSegments = 10_000;
const text = (make: (bytes: number) => string) => (bytes: number) => Buffer.from(make(bytes));
const mpd = (content: string) =>
  `<MPD mediaPresentationDuration="PT9S"><Period><AdaptationSet mimeType="video/mp4">${content}</AdaptationSet></Period></MPD>`;
const free = makeBox('free', []);
const boxes = (bytes: number, unit: Buffer) =>
  Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit);
const movieHead = makeBox('mvhd', [words(0, 0, 0, 1000, 0), Buffer.alloc(80)]);

export const wholeParsers: readonly WholeParser[] = [
  {
    name: 'a reader of HLS playlists',
    files: ['relay/hls/parse-playlist.ts'],
    parse: (input) => parsePlaylist(input.toString(), base, maxSegments),
    inputs: {
      'attributes without an end': text((bytes) => `#EXTM3U\n#EXT-X-MAP:${'A'.repeat(bytes)}\n`),
      'attributes without values': text((bytes) => `#EXTM3U\n#EXT-X-MAP:${'A='.repeat(bytes / 2)}\n`),
      'empty lines': text((bytes) => `#EXTM3U${'\n'.repeat(bytes)}`),
      'spaces in a line': text((bytes) => `#EXTM3U\n#EXTINF:${' '.repeat(bytes)}x\n`),
    },
  },
  {
    name: 'a reader of DASH manifests',
    files: ['relay/dash/read-manifest.ts', 'relay/dash/manifest-segments.ts'],
    parse: (input) => {
      const manifest = readManifest(input.toString());
      return chooseTracks(manifest, base, undefined).map((track) =>
        segmentsOf(manifest, base, track, maxSegments),
      );
    },
    inputs: {
      'empty elements': text((bytes) => `<MPD>${'<a/>'.repeat(bytes / 4)}</MPD>`),
      'elements in elements': text((bytes) => `<MPD>${'<a>'.repeat(bytes / 3)}`),
      'many servers': text((bytes) => mpd('<BaseURL>http://x.example/</BaseURL>'.repeat(bytes / 40))),
    },
  },
  {
    name: 'a reader of the head of an MP4',
    files: [
      'containers/mp4/movie-header.ts',
      'containers/mp4/movie-summary.ts',
      'containers/mp4/sound-length.ts',
      'containers/mp4/find-movie.ts',
    ],
    parse: (input) => {
      summarizeMovie(input);
      soundLength(input, undefined);
      readMovieHeader(input);
      withMovieDuration(input, 9);
    },
    inputs: {
      'boxes of nothing': (bytes) => makeBox('moov', [movieHead, boxes(bytes, free)]),
      'tracks of nothing': (bytes) => makeBox('moov', [movieHead, boxes(bytes, makeBox('trak', []))]),
      'a track of boxes of nothing': (bytes) =>
        makeBox('moov', [movieHead, makeBox('trak', [boxes(bytes, free)])]),
    },
  },
  {
    name: 'a reader of what ffprobe prints',
    files: ['ffmpeg/probe.ts'],
    parse: (input) => JSON.parse(input.toString()) as unknown,
    inputs: {
      'lists in lists': text((bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
      'empty objects': text((bytes) => `[${'{},'.repeat(bytes / 3)}{}]`),
    },
  },
];
