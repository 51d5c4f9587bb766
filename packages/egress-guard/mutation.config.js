/** @type {import('../../stryker.base.js').Subject[]} */
export default [
  {
    name: 'decision',
    mutate: ['src/address-ranges.ts', 'src/allow-list.ts', 'src/host.ts', 'src/policy.ts'],
    tests: ['test/addresses.test.ts', 'test/policy.test.ts'],
  },
  {
    name: 'look-up',
    mutate: ['src/deadline.ts', 'src/resolve.ts'],
    tests: ['test/resolve.test.ts'],
  },
  {
    name: 'guard',
    mutate: ['src/guard.ts'],
    tests: [
      'test/addresses.test.ts',
      'test/connect.test.ts',
      'test/happy-eyeballs.test.ts',
      'test/outbound-proxy.test.ts',
    ],
  },
  {
    name: 'connection',
    mutate: ['src/dispatcher.ts', 'src/happy-eyeballs.ts'],
    tests: [
      'test/connect.test.ts',
      'test/dispatcher.test.ts',
      'test/happy-eyeballs.test.ts',
      'test/tls.test.ts',
    ],
  },
];
