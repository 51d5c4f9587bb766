import fc from 'fast-check';
import { parsePlaylist } from '../../dist/relay/hls/parse-playlist.js';
import { TransferFault } from '../../dist/upstream/transfer-fault.js';

const base = 'https://outside.example/hls/index.m3u8';

const tag = fc.constantFrom(
  ...[
    '#EXTM3U',
    '#EXTINF:2,',
    '#EXT-X-ENDLIST',
    '#EXT-X-VERSION:3',
    '#EXT-X-BYTERANGE:10',
    '#EXT-X-STREAM-INF:BANDWIDTH=1',
  ],
  ...[
    '#EXT-X-MEDIA:TYPE=AUDIO,URI=',
    '#EXT-X-MAP:URI=',
    '#EXT-X-KEY:METHOD=AES-128,URI=',
    '#EXT-X-PART:URI=',
  ],
  ...[
    '#EXT-X-I-FRAME-STREAM-INF:URI=',
    '#EXT-X-SESSION-KEY:METHOD=AES-128,URI=',
    '#EXT-X-UNKNOWN:URI=',
    '# comment ',
    '',
  ],
);
const address = fc.constantFrom(
  ...[
    'https://outside.example/1.ts',
    '//outside.example/2.ts',
    '../outside.example/3.ts',
    'http://outside.example',
  ],
  ...[
    '"https://outside.example/4"',
    '"a.key?outside.example",IV=0x1',
    '"unfinished outside.example',
    ',',
    '"',
    '',
  ],
);
const line = fc.tuple(tag, address).map(([name, value]) => `${name}${value}`);

describe('a rewritten playlist', () => {
  it('names no address of the outside, whatever the original looks like', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 30 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        (lines, newline) => {
          let rendered = '';
          try {
            const text = ['#EXTM3U', ...lines, '#EXT-X-ENDLIST'].join(newline);
            rendered = parsePlaylist(text, base, 100).render((index) => `relayed-${index}`);
          } catch (error) {
            expect(error).toBeInstanceOf(TransferFault);
          }
          const named = rendered
            .split('\n')
            .flatMap((text) =>
              text.startsWith('#')
                ? [...text.matchAll(/URI="?([^",]*)/g)].map(([, uri = '']) => uri)
                : [text],
            );
          expect(named.filter((uri) => uri !== '' && !/^relayed-\d+$/.test(uri))).toEqual([]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
