import { progressLine, timeText } from '../dist/cli/terminal.js';

test('shows percent, speed and time left', () => {
  let now = 0;
  const line = progressLine(() => now);
  expect(line(0, 10_000_000)).toBe('0 %  [                    ]');
  now = 2000;
  expect(line(2_500_000, 10_000_000)).toBe('25 %  1.3 MB/s  6 s left  [#####               ]');
});

test('shows the size alone when the length is unknown, and never more than 100 %', () => {
  const line = progressLine(() => 0);
  expect(line(1500, undefined)).toBe('2 kB');
  expect(line(1500, 1000)).toContain('100 %');
});

test.each([
  [41.2, '42 s'],
  [61, '1:01'],
  [3723, '1:02:03'],
])('formats %d seconds as %s', (seconds, text) => {
  expect(timeText(seconds)).toBe(text);
});
