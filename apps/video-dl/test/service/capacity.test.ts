import { capacityOf } from '../../dist/capacity.js';

const auto = { ENGINE_PROCESSES: 'auto', STREAMS_MAX: 'auto' } as const;

test.each([
  [1, 1, { engines: 2, streams: 4 }],
  [2, 2, { engines: 2, streams: 8 }],
  [8, 16, { engines: 8, streams: 32 }],
  [64, 256, { engines: 64, streams: 256 }],
  [64, 2, { engines: 4, streams: 16 }],
])('%i cores and %i GiB', (cores, gibibytes, expected) => {
  expect(capacityOf(auto, { cores, memoryBytes: gibibytes * 1024 ** 3 })).toEqual(expected);
});

test('uses the numbers given', () => {
  expect(capacityOf({ ENGINE_PROCESSES: 3, STREAMS_MAX: 5 }, { cores: 64, memoryBytes: 2 ** 34 })).toEqual({
    engines: 3,
    streams: 5,
  });
});
