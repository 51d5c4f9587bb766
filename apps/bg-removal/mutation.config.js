/** @type {import('../../stryker.base.js').Subject[]} */
export default [
  { name: 'tuning', mutate: ['src/matte/tuning.ts'], tests: ['test/matte/tuning.test.ts'] },
  {
    name: 'feather',
    mutate: ['src/matte/feather.ts'],
    tests: ['test/matte/feather.test.ts'],
    testTimeoutMs: 10_000,
  },
];
