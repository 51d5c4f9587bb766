import { mutationTest } from '../../stryker.base.js';

export default mutationTest({
  mutate: ['src/window-log.ts', 'src/window-store.ts', 'src/rate-limiter.ts', 'src/client-key.ts'],
  tests: ['test/window-log.test.ts', 'test/window-store.test.ts', 'test/rate-limiter.test.ts'],
});
