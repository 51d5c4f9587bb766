import {
  announcedSeconds,
  announcedSoundSeconds,
  containerTolerance,
  findShortfall,
  isAsLongAs,
  lostSeconds,
} from '../../dist/stream/shortfall.js';
import type { ExpectedInput } from '../../dist/stream/shortfall.js';

/** A file, or joined segments with what the relay knows of them. */
const input = (
  durationSeconds: number | null,
  { guessed = false, ...known }: Partial<ExpectedInput['input']> & { guessed?: boolean } = {},
) => ({
  input: { isJoined: false, statedSeconds: null, lengths: null, ...known },
  facts: { format: 'mov,mp4,m4a,3gp,3g2,mj2', durationSeconds, guessed, hasVideo: true },
});
const joined = (statedSeconds: number | null, lengths: ExpectedInput['input']['lengths'] = null) =>
  input(1, { isJoined: true, statedSeconds, lengths });
/** A file of which ffmpeg has told nothing. */
const unopened: ExpectedInput = { ...input(null), facts: undefined };
const video = (endSeconds: number) => ({ type: 'video' as const, endSeconds, gapSeconds: 0 });
const audio = (endSeconds: number, gapSeconds = 0) => ({ type: 'audio' as const, endSeconds, gapSeconds });

describe('findShortfall', () => {
  it.each([
    ['what is whole', [video(100), audio(99.9)], [input(100)], null, undefined],
    ['sound that is shorter than the pictures', [video(100), audio(50)], [input(100)], null, undefined],
    ['pictures that are shorter than the sound', [video(50), audio(100)], [input(100)], null, undefined],
    ['what ffmpeg said nothing about', [video(100)], [unopened], 100, undefined],
    ['more than was announced', [video(120)], [input(100)], 90, undefined],
    ['less than the page says, when the media says so too', [video(30)], [input(30)], 600, undefined],
    ['a guess from the bit rate', [audio(30)], [input(null, { guessed: true })], 60, undefined],
    ['what nobody announced', [audio(30)], [input(null)], null, undefined],
    [
      'less than a playlist says',
      [video(93)],
      [joined(100, { video: 93, audio: null, audioGaps: 0 })],
      null,
      undefined,
    ],
    [
      'sound that ends early',
      [video(9), audio(5)],
      [joined(9, { video: 9, audio: 5, audioGaps: 0 })],
      9,
      undefined,
    ],
    ['segments of which only the page says something', [video(100)], [joined(null)], 100, undefined],
  ])('takes %s', (_, tracks, inputs, pageSeconds, expected) => {
    expect(findShortfall(tracks, inputs, pageSeconds)).toBe(expected);
  });

  it.each([
    ['half of a file', [video(50), audio(50)], [input(100)], null, 0],
    ['the last seconds of a file', [video(98), audio(98)], [input(100)], null, 0],
    ['half of what ffmpeg said nothing about', [video(50)], [unopened], 100, 0],
    ['half of the sound', [video(100), audio(50)], [input(100), input(100)], null, 1],
    ['half of the pictures', [video(50), audio(100)], [input(100), input(100)], null, 0],
    ['half of what only the page announced', [video(50)], [input(null)], 100, 0],
    ['a second of a playlist', [video(99)], [joined(90, { video: 101, audio: null, audioGaps: 0 })], null, 0],
    ['sound of a playlist', [video(9), audio(5)], [joined(9, { video: 9, audio: 9, audioGaps: 0 })], 9, 0],
    ['all segments but the first', [video(1)], [joined(null)], 100, 0],
  ])('misses %s', (_, tracks, inputs, pageSeconds, inputIndex) => {
    expect(findShortfall(tracks, inputs, pageSeconds)?.inputIndex).toBe(inputIndex);
  });
});

it('a container may state half a second more than it has, or a hundredth', () => {
  expect([0, 10, 50, 51, 1000].map(containerTolerance)).toEqual([0.5, 0.5, 0.5, 0.51, 10]);
});

it.each([
  ['a file', video(99), [input(100)], null],
  ['a page', video(95), [input(null)], 100],
  ['a short page', video(8), [input(null)], 10],
])('what ends at the tolerance of %s is not cut, what ends before it is', (_, track, inputs, page) => {
  expect(findShortfall([track], inputs, page)).toBeUndefined();
  const cut = video(track.endSeconds - 0.01);
  expect(findShortfall([cut], inputs, page)).toMatchObject({ track: cut });
});

it('a shortfall names the track, its input and how long it should be', () => {
  const cut = audio(50);
  const inputs = [input(200), input(100)];
  expect(findShortfall([video(200), cut], inputs, null)).toEqual({
    track: cut,
    inputIndex: 1,
    expectedSeconds: 100,
  });
});

it('a track is compared with what its stream says of itself', () => {
  expect(isAsLongAs(audio(50), 50.2)).toBe(true);
  expect(isAsLongAs(audio(50), 60)).toBe(false);
});

describe('announcedSeconds', () => {
  it('is the longest input, else what the page says', () => {
    expect(announcedSeconds([input(10), input(12)], 99)).toBe(12);
    expect(announcedSeconds([input(null)], 99)).toBe(99);
    expect(announcedSeconds([unopened], 99)).toBe(99);
    expect(announcedSeconds([joined(null)], 99)).toBe(99);
    expect(announcedSeconds([joined(10)], 99)).toBe(10);
    expect(announcedSeconds([], null)).toBeNull();
  });
});

describe('announcedSoundSeconds', () => {
  const soundAlone = (source: ReturnType<typeof input>) => ({
    ...source,
    facts: { ...source.facts, hasVideo: false },
  });

  it.each([
    ['a file of sound', soundAlone(input(10)), 10],
    ['a file with pictures', input(10), null],
    ['joined segments', soundAlone(joined(10)), null],
    ['nothing', undefined, null],
  ])('knows that of %s', (_, source, expected) => {
    expect(announcedSoundSeconds(source === undefined ? [] : [source])).toBe(expected);
  });
});

describe('lostSeconds', () => {
  const whole = joined(100, { video: 100, audio: 100, audioGaps: 0 });
  const withGap = joined(100, { video: 106, audio: 106, audioGaps: 6 });

  it.each([
    ['sound that the segments had', audio(100, 6), whole, 6],
    ['small gaps where parts meet', audio(100, 0.2), whole, 0],
    ['larger ones in ten thousand seconds of parts', audio(10_000, 5), whole, 0],
    ['more than those', audio(10_000, 5.5), whole, 5.5],
    ['a gap in the pictures', { ...video(100), gapSeconds: 6 }, whole, 0],
    ['a gap of the recording', audio(106, 6), withGap, 0],
    ['a gap in a file', audio(100, 6), input(100), 0],
  ])('knows %s', (_, track, source, expected) => {
    expect(lostSeconds(track, source)).toBeCloseTo(expected, 5);
  });
});
