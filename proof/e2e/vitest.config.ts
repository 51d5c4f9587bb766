import { mergeConfig } from 'vitest/config';
import base from '../vitest/base.js';

/** All files share one stack, because starting the engines takes longer than the tests. */
export default mergeConfig(base, {
  test: { fileParallelism: false, globalSetup: 'test/support/global-setup.ts' },
});
