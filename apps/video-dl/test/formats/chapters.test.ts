import { partsIn, utf8Start } from '../../src/formats/chapters.js';

const chapters = [
  { title: 'A', startSeconds: 0, endSeconds: 10 },
  { title: 'B', startSeconds: 10, endSeconds: 20 },
  { title: 'C', startSeconds: 25, endSeconds: null },
];

it.each([
  [
    'in the middle',
    { startSeconds: 5, endSeconds: 15 },
    [
      ['A', 0, 5],
      ['B', 5, 10],
    ],
  ],
  [
    'to the end',
    { startSeconds: 12, endSeconds: null },
    [
      ['B', 0, 8],
      ['C', 13, null],
    ],
  ],
  ['between two', { startSeconds: 20, endSeconds: 25 }, []],
  ['after the start of the last', { startSeconds: 30, endSeconds: 40 }, [['C', 0, 10]]],
])('a clip %s has its part of the chapters', (_where, clip, expected) => {
  expect(
    partsIn(clip, chapters).map(({ title, startSeconds, endSeconds }) => [title, startSeconds, endSeconds]),
  ).toEqual(expected);
});

it('the whole video has them all', () => {
  expect(partsIn(null, chapters)).toBe(chapters);
});

it.each([
  ['abc', 2, 'ab'],
  ['aä', 2, 'a'],
  ['🎬', 3, ''],
  ['日本', 6, '日本'],
])('%s cut to %i bytes is %j', (text, bytes, expected) => {
  expect(utf8Start(text, bytes).toString()).toBe(expected);
});
