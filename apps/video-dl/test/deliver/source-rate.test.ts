import { SourceRate, type Progress } from '../../src/deliver/source-rate.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

interface Setting {
  readonly perSecond: Progress;
  readonly isCrowded?: boolean;
  readonly minBytesPerMinute?: number;
}

/** The events of a source that sends at a constant rate while a stream waits for it. */
function afterSeconds(seconds: number, setting: Setting): string[] {
  const { perSecond, isCrowded = false, minBytesPerMinute = 60_000 } = setting;
  const reports: string[] = [];
  let passed = 0;
  using rate = new SourceRate({
    progress: () => ({
      bytes: passed * perSecond.bytes,
      mediaSeconds: passed * perSecond.mediaSeconds,
    }),
    minBytesPerMinute,
    isCrowded: () => isCrowded,
    maxSilenceMs: 45_000,
    onSilent: () => reports.push('silent'),
    onStarved: () => reports.push('starved'),
  });
  void rate.during(new Promise(() => undefined));
  while (passed < seconds) {
    passed += 1;
    vi.advanceTimersByTime(1_000);
  }
  return reports.slice(0, 1);
}

it.each<[string, number, Setting, string[]]>([
  ['enough bytes', 90, { perSecond: { bytes: 1_100, mediaSeconds: 0 } }, []],
  ['few bytes at playback speed', 90, { perSecond: { bytes: 10, mediaSeconds: 1 } }, []],
  ['too few bytes, for less than a minute', 58, { perSecond: { bytes: 900, mediaSeconds: 0.1 } }, []],
  ['too few bytes for a minute', 62, { perSecond: { bytes: 900, mediaSeconds: 0.1 } }, ['starved']],
  [
    'too few bytes for ten seconds while others wait',
    12,
    { perSecond: { bytes: 900, mediaSeconds: 0.1 }, isCrowded: true },
    ['starved'],
  ],
  [
    'enough bytes while others wait',
    12,
    { perSecond: { bytes: 1_100, mediaSeconds: 0 }, isCrowded: true },
    [],
  ],
  ['nothing at all', 47, { perSecond: { bytes: 0, mediaSeconds: 0 } }, ['silent']],
  [
    'few bytes with the limit disabled',
    90,
    { perSecond: { bytes: 1, mediaSeconds: 0 }, minBytesPerMinute: 0 },
    [],
  ],
])('%s', (_what, seconds, setting, expected) => {
  expect(afterSeconds(seconds, setting)).toEqual(expected);
});

it('does not count the time spent waiting for the client', async () => {
  const reports: string[] = [];
  using rate = new SourceRate({
    progress: () => ({ bytes: 0, mediaSeconds: 0 }),
    minBytesPerMinute: 60_000,
    isCrowded: () => true,
    maxSilenceMs: 45_000,
    onSilent: () => reports.push('silent'),
    onStarved: () => reports.push('starved'),
  });
  await rate.during(Promise.resolve());
  vi.advanceTimersByTime(120_000);
  expect(reports).toEqual([]);
});
