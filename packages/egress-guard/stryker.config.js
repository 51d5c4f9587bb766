import { mutationTest } from '../../stryker.base.js';

export default mutationTest({
  mutate: [
    'src/address-ranges.ts',
    'src/allow-list.ts',
    'src/deadline.ts',
    'src/dispatcher.ts',
    'src/guard.ts',
    'src/happy-eyeballs.ts',
    'src/host.ts',
    'src/policy.ts',
    'src/resolve.ts',
  ],
  tests: [
    'test/addresses.test.ts',
    'test/connect.test.ts',
    'test/outbound-proxy.test.ts',
    'test/policy.test.ts',
    'test/tls.test.ts',
  ],
});
