import {
  announcedSeconds,
  announcedSoundSeconds,
  findShortfall,
  isAsLongAs,
  lostSeconds,
} from '../../dist/stream/shortfall.js';
import type { ExpectedInput } from '../../dist/stream/shortfall.js';

const input = (
  durationSeconds: number | null,
  fields: Partial<ExpectedInput> & { guessed?: boolean; format?: string } = {},
) => {
  const { kind = 'file', guessed = false, format = 'mov,mp4,m4a,3gp,3g2,mj2' } = fields;
  return { kind, facts: { format, durationSeconds, guessed, hasVideo: true } };
};
const video = (endSeconds: number) => ({ type: 'video' as const, endSeconds, gapSeconds: 0 });
const audio = (endSeconds: number, gapSeconds = 0) => ({ type: 'audio' as const, endSeconds, gapSeconds });

describe('findShortfall', () => {
  it.each([
    ['what is whole', [video(100), audio(99.9)], [input(100)], null, undefined],
    ['sound that is shorter than the pictures', [video(100), audio(50)], [input(100)], null, undefined],
    ['more than was announced', [video(120)], [input(100)], 90, undefined],
    ['less than the page says, when the media says so too', [video(30)], [input(30)], 600, undefined],
    ['a guess from the bit rate', [audio(30)], [input(null, { guessed: true })], 60, undefined],
    ['what nobody announced', [audio(30)], [input(null)], null, undefined],
    ['rounded segment lengths of a playlist', [video(93)], [input(100, { kind: 'hls' })], null, undefined],
    ['the first of many fragments', [video(100)], [input(1, { kind: 'fragments' })], 100, undefined],
  ])('takes %s', (_, tracks, inputs, pageSeconds, expected) => {
    expect(findShortfall(tracks, inputs, pageSeconds)).toBe(expected);
  });

  it.each([
    ['half of a file', [video(50), audio(50)], [input(100)], null, 0],
    ['the last seconds of a file', [video(98), audio(98)], [input(100)], null, 0],
    ['half of the sound', [video(100), audio(50)], [input(100), input(100)], null, 1],
    ['half of the pictures', [video(50), audio(100)], [input(100), input(100)], null, 0],
    ['half of what only the page announced', [video(50)], [input(null)], 100, 0],
    ['a fifth of a playlist', [video(80)], [input(100, { kind: 'hls' })], null, 0],
    ['all fragments but the first', [video(1)], [input(1, { kind: 'fragments' })], 100, 0],
  ])('misses %s', (_, tracks, inputs, pageSeconds, inputIndex) => {
    expect(findShortfall(tracks, inputs, pageSeconds)?.inputIndex).toBe(inputIndex);
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
    expect(announcedSeconds([input(1, { kind: 'fragments' })], 99)).toBe(99);
    expect(announcedSeconds([input(10, { kind: 'fragments', format: 'matroska,webm' })], 99)).toBe(10);
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
    ['a playlist', soundAlone(input(10, { kind: 'hls' })), null],
    ['the first of many fragments', soundAlone(input(1, { kind: 'fragments' })), null],
    ['nothing', undefined, null],
  ])('knows that of %s', (_, source, expected) => {
    expect(announcedSoundSeconds(source === undefined ? [] : [source])).toBe(expected);
  });
});

describe('lostSeconds', () => {
  const playlist = input(100, { kind: 'hls' });

  it.each([
    ['a segment without content', audio(100, 6), playlist, null, 6],
    ['a segment without content, as MP3', audio(94), playlist, 100, 6],
    ['nothing', audio(100), playlist, 100, 0],
    ['small gaps where parts meet', audio(100, 0.2), playlist, null, 0],
    ['a gap that the playlist does not count', audio(106, 6), playlist, null, 0],
    ['a gap that the playlist does not count, as MP3', audio(100), playlist, 106, 0],
    ['lengths that a playlist rounds up', audio(95), playlist, 95, 0],
    ['a gap in a file', audio(100, 6), input(100), null, 0],
  ])('knows %s', (_, track, source, timelineSeconds, expected) => {
    expect(lostSeconds(track, source, timelineSeconds)).toBeCloseTo(expected, 5);
  });
});
