import { mutationTest } from '../../stryker.base.js';

export default mutationTest({
  mutate: ['src/matte/tuning.ts', 'src/matte/feather.ts'],
  tests: ['test/matte/tuning.test.ts', 'test/matte/feather.test.ts'],
});
