import { partsIn } from '../../../src/formats/chapters.js';
import { readSubtitles, type SubtitleFormat } from '../../../src/formats/subtitles/read.js';
import { writeSubRip, writeWebVtt } from '../../../src/formats/subtitles/webvtt.js';

/** As start, end and text. */
function read(format: SubtitleFormat, ...files: string[]): (string | number)[][] {
  const bytes = files.map((file) => Buffer.from(file));
  return readSubtitles(bytes, format).map(({ startSeconds, endSeconds, text }) => [
    startSeconds,
    endSeconds,
    text,
  ]);
}

const vtt = (text: string) => read('vtt', `WEBVTT\n\n00:01.000 --> 00:02.000\n${text}\n`)[0]?.[2];

describe('WebVTT and SubRip', () => {
  it('reads hours, commas, settings, and line ends of every system', () => {
    expect(
      read(
        'srt',
        '\ufeff1\r\n01:00:00,500 --> 01:00:01,000\r\nA\r\nB\r\n\r\n2\r\r00:02.000 --> 00:03.000 align:start\rC',
      ),
    ).toEqual([
      [2, 3, 'C'],
      [3600.5, 3601, 'A\nB'],
    ]);
  });

  it('skips comments, styles, and cues that are empty or end before they start', () => {
    const text =
      'STYLE\n::cue { color: red }\n\nNOTE\nx\n\n00:02.000 --> 00:01.000\nA\n\n00:01.000 --> 00:02.000\n<i></i>\n';
    expect(read('vtt', text)).toEqual([]);
  });

  it.each([
    ['<v Ann>Hi</v> <c.red>you</c><00:00:01.500>', 'Hi you'],
    ['a &amp; b &lt;c&gt; &#65;&#x42; &nbsp;&copy;', 'a & b  AB \u00a0&copy;'],
    ['<<<b>i>script>alert(1)</script>', 'script>alert(1)'],
    ['{\\an8}{\\pos(1,1)}top {y:i}italic {note}', 'top italic (note)'],
    ['1 < 2 > 0', '1 < 2 > 0'],
    ['a\u0007b\u2028c', 'a b c'],
  ])('%j is shown as %j', (markup, shown) => {
    expect(vtt(markup)).toBe(shown);
  });

  it('joins segments on the clock of the media, and shows a repeated cue once', () => {
    const segment = (ticks: number, cues: string) =>
      `WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:${ticks}\n\n${cues}`;
    const first = segment(900_000, '00:01.000 --> 00:02.500\nA\n');
    const second = segment(1_080_000, '00:00.500 --> 00:01.000\nB\n');
    expect(read('vtt', first, segment(900_000, '00:01.000 --> 00:02.500\nA\n'), second)).toEqual([
      [1, 2.5, 'A'],
      [2.5, 3, 'B'],
    ]);
    const beforeWrap = segment(2 ** 33 - 90_000, '00:00.000 --> 00:01.000\nA\n');
    expect(read('vtt', beforeWrap, segment(0, '00:00.000 --> 00:01.000\nB\n'))).toEqual([
      [0, 1, 'A'],
      [1, 2, 'B'],
    ]);
  });
});

describe('TTML', () => {
  it.each([
    ['begin="00:00:01.5" end="00:00:02"', 1.5, 2],
    ['begin="00:00:01:15" dur="1s"', 1.5, 2.5],
    ['begin="45f" end="90f"', 1.5, 3],
    ['begin="20000t" end="30000t"', 2, 3],
    ['begin="1500ms" end="0.05m"', 1.5, 3],
  ])('reads %s', (times, start, end) => {
    const file = `<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="urn:x" ttp:frameRate="30" ttp:tickRate="10000"><body><div><p ${times}>a</p></div></body></tt>`;
    expect(read('ttml', file)).toEqual([[start, end, 'a']]);
  });

  it('takes line breaks from br alone, and skips paragraphs without times', () => {
    const file =
      '<x:tt xmlns:x="a"><x:p>no</x:p><x:p begin="0s" end="1s">\n  a <x:span>b</x:span><x:br/>\n c &lt;i> </x:p></x:tt>';
    expect(read('ttml', file)).toEqual([[0, 1, 'a b\nc']]);
  });

  it.each(['<tt>', '<!DOCTYPE tt><tt/>', 'no XML'])('rejects %j', (file) => {
    expect(() => read('ttml', file)).toThrow("subtitles can't be read");
  });
});

describe("YouTube's captions", () => {
  it.each(['{', '[]', '{"events":{}}', '{"events":[{"tStartMs":"x"}]}'])('rejects %j', (file) => {
    expect(() => read('json3', file)).toThrow("subtitles can't be read");
  });

  it('keeps what a person shows at the same time', () => {
    const events = [
      { tStartMs: 0, dDurationMs: 3000, segs: [{ utf8: 'A' }] },
      { tStartMs: 1000, dDurationMs: 1000, segs: [{ utf8: 'B' }] },
    ];
    expect(read('json3', JSON.stringify({ events }))).toEqual([
      [0, 3, 'A'],
      [1, 2, 'B'],
    ]);
  });
});

it('writes what it reads', () => {
  const cues = [
    { startSeconds: 3599.9996, endSeconds: 3661.25, text: 'a & b\nc > d' },
    { startSeconds: 3662, endSeconds: 3663, text: 'x' },
  ];
  const expected = [
    [3600, 3661.25, 'a & b\nc > d'],
    [3662, 3663, 'x'],
  ];
  expect(read('vtt', writeWebVtt(cues))).toEqual(expected);
  expect(read('srt', writeSubRip(cues))).toEqual(expected);
});

it('a clip shows the part of a cue that is in it', () => {
  const cues = [
    { startSeconds: 0, endSeconds: 2, text: 'A' },
    { startSeconds: 3, endSeconds: 4, text: 'B' },
  ];
  expect(partsIn({ startSeconds: 1, endSeconds: 3 }, cues)).toEqual([
    { startSeconds: 0, endSeconds: 1, text: 'A' },
  ]);
});
