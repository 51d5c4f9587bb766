import { mutationTest } from '../../stryker.base.js';

export default mutationTest({
  mutate: ['src/policy.ts', 'src/address-ranges.ts', 'src/allow-list.ts', 'src/host.ts'],
  tests: ['test/addresses.test.ts', 'test/policy.test.ts'],
});
