import { mutationTest } from '../../stryker.base.js';

/** What is decided; how it is connected has a configuration of its own. */
export default mutationTest({
  mutate: ['src/address-ranges.ts', 'src/allow-list.ts', 'src/host.ts', 'src/policy.ts'],
  tests: ['test/addresses.test.ts', 'test/policy.test.ts'],
});
