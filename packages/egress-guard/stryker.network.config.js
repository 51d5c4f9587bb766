import { mutationTest } from '../../stryker.base.js';

/** What connects, with tests that connect. */
export default mutationTest({
  report: 'egress-guard-network',
  testTimeoutMs: 5_000,
  mutate: ['src/deadline.ts', 'src/dispatcher.ts', 'src/guard.ts', 'src/happy-eyeballs.ts', 'src/resolve.ts'],
  tests: [
    'test/addresses.test.ts',
    'test/connect.test.ts',
    'test/dispatcher.test.ts',
    'test/happy-eyeballs.test.ts',
    'test/outbound-proxy.test.ts',
    'test/resolve.test.ts',
    'test/tls.test.ts',
  ],
});
