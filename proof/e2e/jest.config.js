import base from '../jest/base.js';

/** All files share one stack, because starting the engines takes longer than the tests. */
export default {
  ...base,
  maxWorkers: 1,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};
