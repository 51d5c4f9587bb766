import { Expectation, type ExpectedInput } from '../../src/deliver/expectation.js';

/** A file, or joined segments with what the relay knows about them. */
const input = (durationSeconds: number | null, known: Partial<ExpectedInput['input']> = {}) => ({
  input: { isJoined: false, statedSeconds: null, lengths: null, ...known },
  facts: {
    format: 'mov,mp4,m4a,3gp,3g2,mj2',
    durationSeconds,
    startSeconds: 0,
    hasVideo: true,
    decodedSeconds: null,
  },
});
const rounded = (durationSeconds: number) => {
  const file = input(durationSeconds);
  return { ...file, facts: { ...file.facts, format: 'flv' } };
};
const joined = (
  statedSeconds: number | null,
  lengths: ExpectedInput['input']['lengths'] = null,
  isWhole = lengths !== null,
) => input(1, { isJoined: true, isWhole, statedSeconds, lengths });
const audioAlone = (source: ReturnType<typeof input>) => ({
  ...source,
  facts: { ...source.facts, hasVideo: false },
});
/** A file about which ffmpeg has reported nothing. */
const unopened: ExpectedInput = { ...input(null), facts: undefined };
const video = (endSeconds: number) => ({ type: 'video' as const, endSeconds });
const audio = (endSeconds: number) => ({ type: 'audio' as const, endSeconds });

const expectation = (seconds: number | null, ...inputs: ExpectedInput[]) =>
  new Expectation({ seconds }, inputs);

describe('shortfalls', () => {
  it.each([
    ['complete tracks', [video(100), audio(99.9)], [input(100)], null],
    ['an input that ffmpeg did not report', [video(100)], [unopened], 100],
    ['more than stated', [video(120)], [input(100)], 90],
    ['less than the page states, if the media states the same', [video(30)], [input(30)], 600],
    ['less than the page states, if the media states nothing', [audio(30)], [input(null)], 600],
    ['an input without a stated length', [audio(30)], [input(null)], null],
    ['less than a playlist states', [video(93)], [joined(100, { video: 93, audio: null })], null],
    ['audio that ends early in its segments', [video(9), audio(5)], [joined(9, { video: 9, audio: 5 })], 9],
    [
      'a file that is whole and says that it is longer',
      [video(4), audio(4)],
      [input(400, { isWhole: true })],
      null,
    ],
    ['audio that is shorter than the video of its file', [video(100), audio(50)], [input(100)], null],
    ['video that is shorter than the audio of its file', [video(50), audio(100)], [input(100)], null],
    ['audio alone that may be shorter than its video', [audio(50)], [input(100)], null],
    ['all segments, if they are not measured', [video(99)], [joined(100, null, true)], 100],
  ])('accepts %s', (_, tracks, inputs, pageSeconds) => {
    expect(expectation(pageSeconds, ...inputs).shortfalls(tracks)).toEqual([]);
  });

  it.each([
    ['half of a file', [video(50), audio(50)], [input(100)], [video(50), audio(50)], 100],
    ['the last second of a file', [video(999), audio(999)], [input(1000)], [video(999), audio(999)], 1000],
    ['half of the audio', [video(100), audio(50)], [input(100), audioAlone(input(100))], [audio(50)], 100],
    ['half of the video', [video(50), audio(100)], [input(100), input(100)], [video(50)], 100],
    ['a second of a playlist', [video(99)], [joined(90, { video: 101, audio: null })], [video(99)], 101],
    ['audio of a playlist', [video(9), audio(5)], [joined(9, { video: 9, audio: 9 })], [audio(5)], 9],
    ['segments that are not all delivered', [video(1)], [joined(null)], [video(1)], Infinity],
  ])('reports %s', (_, tracks, inputs, short, expectedSeconds) => {
    expect(expectation(null, ...inputs).shortfalls(tracks)).toEqual(
      short.map((track) => ({ track, expectedSeconds })),
    );
  });

  it('compares audio alone with the length of the audio, if the plan knows it', () => {
    const planned = new Expectation({ seconds: 100, audioSeconds: 60 }, [input(100)]);
    expect(planned.shortfalls([audio(60)])).toEqual([]);
    expect(planned.shortfalls([audio(59)])).toEqual([{ track: audio(59), expectedSeconds: 60 }]);
  });
});

describe('shortfalls of a clip', () => {
  const clipped = (endSeconds: number | null, ...inputs: ExpectedInput[]) =>
    new Expectation({ seconds: null, clip: { startSeconds: 10, endSeconds, readFromSeconds: 10 } }, inputs);
  const longFrames = (endSeconds: number) => ({ ...video(endSeconds), longestSeconds: 1 });

  it.each([
    ['all of it', 20, [video(10), audio(10)], input(100)],
    ['what the file has of it', 20, [video(5)], input(15)],
    ['what the file has of the audio', 20, [audio(5)], input(100, { audioSeconds: 15 })],
    ['one frame less', 20, [longFrames(9)], input(100)],
    ['all of the segments', 20, [video(5)], input(1, { isJoined: true, isWhole: true })],
    [
      'all that is measured',
      20,
      [video(5)],
      input(1, { isJoined: true, offsetSeconds: 8, lengths: { video: 7, audio: null } }),
    ],
    ['all of a clip of segments that are left unread', 20, [video(10)], joined(null)],
  ])('accept %s', (_, endSeconds, tracks, source) => {
    expect(clipped(endSeconds, source).shortfalls(tracks)).toEqual([]);
  });

  it.each([
    ['less of a file', 20, [video(9)], input(100), 10],
    ['less than the file has', null, [video(80)], input(100), 90],
    ['less of a whole file', 20, [video(9)], input(100, { isWhole: true }), 10],
    ['less of the audio', 20, [audio(9)], input(100, { audioSeconds: 100 }), 10],
    ['less of audio of unknown length', 20, [audio(9)], input(100, { audioSeconds: null }), 10],
    ['less of segments that are left unread', 20, [video(9)], joined(12), 10],
    ['less of segments to the end', null, [video(9)], joined(12), Infinity],
    [
      'less than measured',
      20,
      [video(5)],
      input(1, { isJoined: true, offsetSeconds: 8, lengths: { video: 8, audio: null } }),
      6,
    ],
  ])('report %s', (_, endSeconds, tracks, source, expectedSeconds) => {
    expect(clipped(endSeconds, source).shortfalls(tracks)).toEqual([{ track: tracks[0], expectedSeconds }]);
  });
});

it('a file whose container rounds lengths, or guesses them, is not compared', () => {
  for (const page of [null, 1000])
    expect(expectation(page, rounded(1000)).shortfalls([video(500)])).toEqual([]);
});

it.each([
  ['a file that states its length exactly', 999.5, [input(1000)]],
  ['an hour of segments', 3597.7, [joined(null, { video: 3600, audio: null })]],
])('a track may end at the tolerance for %s, but not before', (_, end, inputs) => {
  expect(expectation(null, ...inputs).shortfalls([video(end)])).toEqual([]);
  expect(expectation(null, ...inputs).shortfalls([video(end - 0.01)])).toMatchObject([
    { track: video(end - 0.01) },
  ]);
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
  const decoded = (decodedSeconds: number, known: Partial<ExpectedInput['input']> = {}) => {
    const file = input(100, known);
    return { ...file, facts: { ...file.facts, decodedSeconds } };
  };

  it.each([
    ['audio of a file that was decoded and dropped', audio(0.3), decoded(2), 1.7],
    ["an encoder's delay", audio(100), decoded(100.1), 0],
    ['all decoded audio', audio(100), decoded(99), 0],
    ['the tolerance for ten thousand seconds', audio(10_000), decoded(10_005), 0],
    ['more than that', audio(10_000), decoded(10_005.5), 5.5],
    ['video', video(0.3), decoded(2), 0],
    ['segments that overlap', audio(0.3), decoded(2, { isJoined: true }), 0],
    ['audio whose sample rate changes', audio(0.3), decoded(2, { changes: { changesAudio: true } }), 0],
    ['a file that ffmpeg did not report', audio(1), unopened, 0],
  ])('are correct for %s', (_, track, source, expected) => {
    expect(expectation(null, source).lostSeconds(track)).toBeCloseTo(expected, 5);
  });
});
