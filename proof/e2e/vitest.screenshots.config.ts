import { defineConfig } from 'vitest/config';
import base from '../vitest/base.js';

/** Not a test suite: takes screenshots of every state of the page, for people to look at. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/screenshots/*.shots.ts'],
    fileParallelism: false,
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 600_000,
    reporters: ['default'],
  },
});
