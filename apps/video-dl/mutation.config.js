/** @type {import('../../stryker.base.js').Subject[]} */
export default [
  {
    name: 'transfer',
    mutate: ['src/upstream/remote-object.ts', 'src/upstream/transfer.ts', 'src/upstream/upstream-part.ts'],
    tests: ['test/upstream/fetch-bytes.test.ts', 'test/upstream/transfer.test.ts'],
  },
  {
    name: 'byte-range',
    mutate: ['src/upstream/byte-range.ts'],
    tests: ['test/upstream/byte-range.test.ts'],
  },
  {
    name: 'retry-budget',
    mutate: ['src/upstream/retry-budget.ts'],
    tests: ['test/upstream/retry-budget.test.ts'],
  },
  {
    name: 'transfer-fault',
    mutate: ['src/upstream/transfer-fault.ts'],
    tests: ['test/upstream/transfer-fault.test.ts'],
  },
  {
    name: 'expectation',
    mutate: ['src/stream/expectation.ts'],
    tests: ['test/stream/expectation.test.ts'],
  },
  {
    name: 'verification',
    mutate: ['src/stream/verification.ts'],
    tests: ['test/stream/verification.test.ts'],
    testTimeoutMs: 10_000,
  },
  {
    name: 'ranges',
    mutate: ['src/stream/ranges.ts'],
    tests: ['test/stream/ranges.test.ts'],
  },
];
