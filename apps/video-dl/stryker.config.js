import { mutationTest } from '../../stryker.base.js';

export default mutationTest({
  mutate: [
    'src/upstream/byte-range.ts',
    'src/upstream/remote-object.ts',
    'src/upstream/transfer.ts',
    'src/upstream/upstream-part.ts',
    'src/stream/ranges.ts',
    'src/stream/shortfall.ts',
  ],
  tests: [
    'test/relay/file.test.ts',
    'test/stream/ranges.test.ts',
    'test/stream/shortfall.test.ts',
    'test/upstream/fetch-bytes.test.ts',
  ],
});
