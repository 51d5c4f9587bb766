/**
 * By package, what a mutation test breaks and which of its tests must notice.
 * @typedef {{ name: string, mutate: string[], tests: string[], testTimeoutMs?: number }} Subject
 * @type {Readonly<Record<string, Subject[]>>}
 */
export const subjects = {
  'bg-removal': [
    {
      name: 'tuning',
      mutate: ['src/matte/tuning.ts', 'src/matte/tune-matte.ts'],
      tests: ['test/matte/tuning.test.ts'],
    },
  ],
  'video-dl': [
    {
      name: 'transfer',
      mutate: [
        'src/upstream/object-identity.ts',
        'src/upstream/transfer.ts',
        'src/upstream/upstream-part.ts',
      ],
      tests: ['test/upstream/fetch-bytes.test.ts', 'test/upstream/transfer.test.ts'],
    },
    {
      name: 'byte-range',
      mutate: ['src/upstream/byte-range.ts'],
      tests: ['test/upstream/headers.test.ts'],
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
      mutate: ['src/deliver/expectation.ts'],
      tests: ['test/deliver/expectation.test.ts'],
    },
    {
      name: 'verification',
      mutate: ['src/deliver/verification.ts'],
      tests: ['test/deliver/verification.test.ts'],
      testTimeoutMs: 10_000,
    },
    {
      name: 'ranges',
      mutate: ['src/deliver/ranges.ts'],
      tests: ['test/deliver/response.test.ts'],
    },
  ],
  'egress-guard': [
    {
      name: 'decision',
      mutate: ['src/allow-list.ts', 'src/host.ts', 'src/policy.ts'],
      tests: ['test/addresses.test.ts', 'test/policy.test.ts'],
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
      tests: ['test/connect.test.ts', 'test/happy-eyeballs.test.ts'],
    },
  ],
  'rate-limit': [
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
      mutate: ['src/rate-limiter.ts'],
      tests: ['test/rate-limiter.test.ts'],
    },
  ],
};
