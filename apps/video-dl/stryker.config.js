import { mutationTest } from '../../stryker.base.js';

/** What decides; what reads over the network has a configuration of its own. */
export default mutationTest({
  mutate: [
    'src/stream/ranges.ts',
    'src/stream/shortfall.ts',
    'src/stream/verification.ts',
    'src/upstream/byte-range.ts',
    'src/upstream/retry-budget.ts',
    'src/upstream/transfer-fault.ts',
  ],
  tests: [
    'test/stream/ranges.test.ts',
    'test/stream/shortfall.test.ts',
    'test/stream/verification.test.ts',
    'test/upstream/byte-range.test.ts',
    'test/upstream/retry-budget.test.ts',
    'test/upstream/transfer-fault.test.ts',
  ],
});
