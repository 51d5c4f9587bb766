import { Expectation, isAsLongAs, type ExpectedInput } from '../../src/deliver/expectation.js';

/** A file, or joined segments with what the relay knows about them. */
const input = (
  durationSeconds: number | null,
  { guessed = false, ...known }: Partial<ExpectedInput['input']> & { guessed?: boolean } = {},
) => ({
  input: { isJoined: false, statedSeconds: null, lengths: null, ...known },
  facts: {
    format: 'mov,mp4,m4a,3gp,3g2,mj2',
    durationSeconds,
    startSeconds: 0,
    guessed,
    hasVideo: true,
    decodedSeconds: null,
  },
});
const rounded = (durationSeconds: number) => {
  const file = input(durationSeconds);
  return { ...file, facts: { ...file.facts, format: 'flv' } };
};
const joined = (statedSeconds: number | null, lengths: ExpectedInput['input']['lengths'] = null) =>
  input(1, { isJoined: true, statedSeconds, lengths });
/** A file about which ffmpeg has reported nothing. */
const unopened: ExpectedInput = { ...input(null), facts: undefined };
const video = (endSeconds: number) => ({ type: 'video' as const, endSeconds, gapSeconds: 0 });
const audio = (endSeconds: number, gapSeconds = 0) => ({ type: 'audio' as const, endSeconds, gapSeconds });

const expectation = (seconds: number | null, ...inputs: ExpectedInput[]) =>
  new Expectation({ seconds }, inputs);

describe('shortfalls', () => {
  it('misses half of the audio of a whole file whose video is as long as it says', () => {
    const [first] = expectation(null, input(100, { isWhole: true })).shortfalls([video(100), audio(50)]);
    expect(first).toMatchObject({ track: audio(50), isShorterTrack: true });
  });

  it.each([
    ['complete tracks', [video(100), audio(99.9)], [input(100)], null],
    ['an input that ffmpeg did not report', [video(100)], [unopened], 100],
    ['more than stated', [video(120)], [input(100)], 90],
    ['less than the page states, if the media states the same', [video(30)], [input(30)], 600],
    ['an estimate from the bit rate', [audio(30)], [input(null, { guessed: true })], 60],
    ['an input without a stated length', [audio(30)], [input(null)], null],
    [
      'less than a playlist states',
      [video(93)],
      [joined(100, { video: 93, audio: null, audioGaps: 0 })],
      null,
    ],
    [
      'audio that ends early in its segments',
      [video(9), audio(5)],
      [joined(9, { video: 9, audio: 5, audioGaps: 0 })],
      9,
    ],
    [
      'a file that is whole and says that it is longer',
      [video(4), audio(4)],
      [input(400, { isWhole: true })],
      null,
    ],
    ['segments with a length stated only by the page', [video(100)], [joined(null)], 100],
  ])('accepts %s', (_, tracks, inputs, pageSeconds) => {
    expect(expectation(pageSeconds, ...inputs).shortfalls(tracks)).toEqual([]);
  });

  it.each([
    ['half of a file', [video(50), audio(50)], [input(100)], null, 0],
    ['the last second of a file', [video(999), audio(999)], [input(1000)], null, 0],
    ['half of an input that ffmpeg did not report', [video(50)], [unopened], 100, 0],
    ['half of the audio', [video(100), audio(50)], [input(100), input(100)], null, 1],
    ['half of the video', [video(50), audio(100)], [input(100), input(100)], null, 0],
    ['half of a length stated only by the page', [video(50)], [input(null)], 100, 0],
    ['a second of a playlist', [video(99)], [joined(90, { video: 101, audio: null, audioGaps: 0 })], null, 0],
    ['audio of a playlist', [video(9), audio(5)], [joined(9, { video: 9, audio: 9, audioGaps: 0 })], 9, 0],
    ['all segments but the first', [video(1)], [joined(null)], 100, 0],
  ])('reports %s', (_, tracks, inputs, pageSeconds, inputIndex) => {
    const [first] = expectation(pageSeconds, ...inputs).shortfalls(tracks);
    expect(first).toMatchObject({ inputIndex, isShorterTrack: false });
  });

  it.each([
    ['audio', [video(100), audio(50)], audio(50)],
    ['video', [video(50), audio(100)], video(50)],
  ])('reports %s that is shorter than the other track of its file', (_, tracks, track) => {
    expect(expectation(null, input(100)).shortfalls(tracks)).toEqual([
      { track, inputIndex: 0, expectedSeconds: 100, isShorterTrack: true },
    ]);
  });
});

it('a file whose container rounds lengths, or guesses them, is not compared', () => {
  for (const page of [null, 1000])
    expect(expectation(page, rounded(1000)).shortfalls([video(500)])).toEqual([]);
});

it.each([
  ['a file that states its length exactly', 999.5, [input(1000)], null],
  ['a page', 95, [input(null)], 100],
  ['a short page', 8, [input(null)], 10],
  ['an hour of segments', 3597.7, [joined(null, { video: 3600, audio: null, audioGaps: 0 })], null],
])('a track may end at the tolerance for %s, but not before', (_, end, inputs, page) => {
  expect(expectation(page, ...inputs).shortfalls([video(end)])).toEqual([]);
  expect(expectation(page, ...inputs).shortfalls([video(end - 0.01)])).toMatchObject([
    { track: video(end - 0.01) },
  ]);
});

it('a shortfall has the track, its input and the required length', () => {
  const cut = audio(50);
  const inputs = [input(200), input(100)];
  expect(expectation(null, ...inputs).shortfalls([video(200), cut])).toEqual([
    { track: cut, inputIndex: 1, expectedSeconds: 100, isShorterTrack: false },
  ]);
});

it("a track is compared with its stream's own length", () => {
  expect(isAsLongAs(audio(50), 50.2)).toBe(true);
  expect(isAsLongAs(audio(50), 60)).toBe(false);
});

describe('seconds', () => {
  it.each([
    ['the longest input', 12, [input(10), input(12)]],
    ['the page, if the file states none', 99, [input(null)]],
    ['the page, if ffmpeg reported nothing', 99, [unopened]],
    ['the page, if the playlist states none', 99, [joined(null)]],
    ['the playlist', 10, [joined(10)]],
  ])('are those of %s', (_, seconds, inputs) => {
    expect(expectation(99, ...inputs).seconds).toBe(seconds);
  });

  it('are unknown if neither page nor input states them', () => {
    expect(expectation(null).seconds).toBeNull();
  });
});

describe('a file whose media start late', () => {
  const late = (durationSeconds: number) => {
    const file = input(durationSeconds);
    return { ...file, facts: { ...file.facts, startSeconds: 3 } };
  };

  it.each([
    ['counts from zero', late(13)],
    ['counts from its first timestamp', late(10)],
  ])('has the length of its media if its container %s', (_, file) => {
    expect(expectation(10, file).seconds).toBe(10);
    expect(expectation(10, file).shortfalls([video(10)])).toEqual([]);
    expect(expectation(10, file).shortfalls([video(9)])).toHaveLength(1);
  });
});

describe('audioSeconds', () => {
  const audioAlone = (source: ReturnType<typeof input>) => ({
    ...source,
    facts: { ...source.facts, hasVideo: false },
  });

  it.each([
    ['an audio file', audioAlone(input(10)), 10],
    ['a file with video', input(10), null],
    ['joined segments', audioAlone(joined(10)), null],
    ['nothing', undefined, null],
  ])('are known or unknown for %s', (_, source, expected) => {
    expect(expectation(null, ...(source === undefined ? [] : [source])).audioSeconds).toBe(expected);
  });
});

describe('lostSeconds', () => {
  const whole = joined(100, { video: 100, audio: 100, audioGaps: 0 });
  const decoded = (decodedSeconds: number) => {
    const file = input(100);
    return { ...file, facts: { ...file.facts, decodedSeconds } };
  };
  const withGap = joined(100, { video: 106, audio: 106, audioGaps: 6 });

  it.each([
    ['audio that the segments had', audio(100, 6), whole, 6],
    ['small gaps between segments', audio(100, 0.2), whole, 0],
    ['larger gaps in ten thousand seconds of segments', audio(10_000, 5), whole, 0],
    ['gaps above the tolerance', audio(10_000, 5.5), whole, 5.5],
    ['a gap in the video', { ...video(100), gapSeconds: 6 }, whole, 0],
    ['a gap in the recording', audio(106, 6), withGap, 0],
    ['a gap in a file', audio(100, 6), input(100), 0],
    ['audio of a file that was decoded and dropped', audio(0.3), decoded(2), 1.7],
    ["an encoder's delay", audio(100), decoded(100.1), 0],
    ['all decoded audio', audio(100), decoded(99), 0],
  ])('are correct for %s', (_, track, source, expected) => {
    expect(expectation(null, source).lostSeconds(track)).toBeCloseTo(expected, 5);
  });
});
