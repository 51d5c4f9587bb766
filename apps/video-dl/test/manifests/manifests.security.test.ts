import fc from 'fast-check';
import { readManifest } from '../../src/manifests/dash-manifest.js';
import { dashTable } from '../../src/manifests/dash-segments.js';
import { readPlaylist } from '../../src/manifests/hls-playlist.js';
import { Rejection } from '../../src/formats/rejection.js';
import { SegmentList } from '../../src/relay/segment-list.js';
import { joinerFor } from '../../src/formats/joiner-for.js';
import { TransferFault } from '../../src/upstream/transfer-fault.js';
import { expectLinearTime } from '../support/expectations.js';

/**
 * Parsers of untrusted input. For any input they return a result or their own error, in
 * linear time. Set `FUZZ_RUNS=200000` for a longer run.
 */

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 500);
const base = 'https://outside.example/hls/index.m3u8';
const maxSegments = 10_000;

const playlist = (text: string) => readPlaylist(text, { baseUrl: base, maxSegments });
const manifest = (text: string) => {
  const wanted = { id: 'a', kind: 'video', bandwidth: null } as const;
  return new SegmentList(dashTable(readManifest(text, 100_000), { url: base, wanted, maxSegments }), {});
};

/** Runs a parser. Its own errors count as results. */
function outcome<T>(work: () => T): T | TransferFault | Rejection {
  try {
    return work();
  } catch (error) {
    if (error instanceof TransferFault || error instanceof Rejection) return error;
    throw error;
  }
}

const fragment = fc.constantFrom(
  ...[
    '#EXTM3U',
    '\n',
    '\r',
    '\0',
    '"',
    ',',
    '=',
    ':',
    '\\',
    ' ',
    '#EXTINF:',
    '1.5,',
    '#EXT-X-MAP:URI="',
    '#EXT-X-KEY:',
  ],
  ...[
    'METHOD=AES-128',
    'METHOD=NONE',
    'URI=',
    'IV=0x',
    'BYTERANGE="1@',
    '#EXT-X-BYTERANGE:9',
    'https://x.example/',
    '../a.ts',
  ],
  ...[
    '#EXT-X-STREAM-INF:BANDWIDTH=1',
    '#EXT-X-MEDIA:TYPE=AUDIO',
    '#EXT-X-DISCONTINUITY',
    '#EXT-X-ENDLIST',
    '99999999999',
  ],
);
const element = fc.constantFrom(
  ...[
    '<MPD>',
    '</MPD>',
    '<Period>',
    '</Period>',
    '<AdaptationSet mimeType="video/mp4">',
    '</AdaptationSet>',
    '<S d="1" r="9"/>',
  ],
  ...[
    '<Representation id="a">',
    '</Representation>',
    '<SegmentTemplate media="$Number$" duration="1">',
    '</SegmentTemplate>',
  ],
  ...[
    '<BaseURL>',
    '</BaseURL>',
    'x',
    '&amp;',
    '&x;',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<!DOCTYPE x>',
    '<SegmentTimeline>',
    '"',
    '>',
  ],
);

describe('a parser of untrusted text', () => {
  it.each([
    ['playlists', playlist, fragment, '#EXTM3U\n'],
    ['manifests', manifest, element, '<MPD mediaPresentationDuration="PT9S"><Period>'],
  ] as const)('of %s ends with a result or a fault', (_what, parse, part, start) => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        outcome(() => parse(`${start}${parts.join('')}`));
      }),
      { numRuns },
    );
  });

  it('of playlists returns only http and https URLs', () => {
    let named = 0;
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 60 }), (parts) => {
        const result = outcome(() => playlist(`#EXTM3U\n${parts.join('')}\n#EXT-X-ENDLIST`));
        if (!('table' in result)) return;
        const list = new SegmentList(result.table, {});
        for (let number = 0; number < list.length; number += 1)
          expect(list.segment(number).url).toMatch(/^https?:\/\/[^\s\0]+$/);
        for (let number = 0; number < list.initialisationCount; number += 1)
          expect(list.initialisation(number).url).toMatch(/^https?:\/\/[^\s\0]+$/);
        named += list.length;
      }),
      { numRuns },
    );
    expect(named).toBeGreaterThan(0);
  });
});

describe('a joiner of segments', () => {
  const heads = [
    [0x47],
    [0, 0, 0, 16, 0x6d, 0x6f, 0x6f, 0x76],
    [0x1a, 0x45, 0xdf, 0xa3],
    [0xff, 0xf1, 0x50, 0x80],
    [0x49, 0x44, 0x33],
  ];

  it('returns bytes or a fault for any input in any chunks', () => {
    const bytes = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.constantFrom(...heads), bytes, (head, chunks) => {
        outcome(() => {
          const start = Buffer.concat([Buffer.from(head), Buffer.alloc(8)]);
          const joiner = joinerFor(start, false);
          joiner.begin({ seconds: 1, isRounded: false, isDiscontinuity: true, initialisation: null });
          joiner.push(start);
          for (const chunk of chunks) joiner.push(Buffer.from(chunk));
          joiner.end();
          joiner.finish();
        });
      }),
      { numRuns },
    );
  });
});

describe('input that once took more than linear time', () => {
  const mpdOf = (content: string) =>
    `<MPD mediaPresentationDuration="PT9S"><Period><AdaptationSet mimeType="video/mp4">${content}</AdaptationSet></Period></MPD>`;
  const timeline = (r: string) =>
    mpdOf(
      `<Representation id="a"><SegmentTemplate media="$Time$"><SegmentTimeline><S d="1" r="${r}"/></SegmentTimeline></SegmentTemplate></Representation>`,
    );

  it.each<readonly [string, (size: number) => () => unknown]>([
    ['attributes without an end', (size) => () => playlist(`#EXTM3U\n#EXT-X-MAP:${'A'.repeat(size)}\n`)],
    ['attributes without values', (size) => () => playlist(`#EXTM3U\n#EXT-X-MAP:${'A='.repeat(size / 2)}\n`)],
    ['lines of nothing', (size) => () => playlist(`#EXTM3U${'\n'.repeat(size)}`)],
    ['spaces in a line', (size) => () => playlist(`#EXTM3U\n#EXTINF:${' '.repeat(size)}x\n`)],
    ['empty elements', (size) => () => manifest(`<MPD>${'<a/>'.repeat(size / 4)}</MPD>`)],
    ['elements in elements', (size) => () => manifest(`<MPD>${'<a>'.repeat(size / 3)}`)],
    [
      'many servers',
      (size) => () => manifest(mpdOf('<BaseURL>http://x.example/</BaseURL>'.repeat(size / 40))),
    ],
  ])('is read in linear time: %s', (_what, make) => {
    expectLinearTime((size) => {
      const work = make(size);
      return () => outcome(work);
    });
  });

  it.each(['2000000000', '99999999999999999999'])('rejects a run of r="%s" at no cost', (r) => {
    expect(outcome(() => manifest(timeline(r)))).toBeInstanceOf(Rejection);
  });

  it('ends a run of r="-1" with the period', () => {
    expect(outcome(() => manifest(timeline('-1')))).toMatchObject({ length: 9 });
  });
});
