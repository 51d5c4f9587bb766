/** @type {import('../../stryker.base.js').Subject[]} */
export default [
  {
    name: 'window-log',
    mutate: ['src/window-log.ts'],
    tests: ['test/window-log.test.ts'],
    testTimeoutMs: 20_000,
  },
  {
    name: 'window-store',
    mutate: ['src/window-store.ts'],
    tests: ['test/window-store.test.ts'],
    testTimeoutMs: 20_000,
  },
  {
    name: 'middleware',
    mutate: ['src/rate-limiter.ts', 'src/client-key.ts'],
    tests: ['test/rate-limiter.test.ts'],
  },
];
