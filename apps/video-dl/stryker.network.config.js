import { mutationTest } from '../../stryker.base.js';

/** What reads media, with tests that read them from a server. */
export default mutationTest({
  report: 'video-dl-network',
  testTimeoutMs: 5_000,
  mutate: ['src/upstream/remote-object.ts', 'src/upstream/transfer.ts', 'src/upstream/upstream-part.ts'],
  tests: ['test/upstream/fetch-bytes.test.ts', 'test/upstream/transfer.test.ts'],
});
