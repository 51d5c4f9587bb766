import base from '../../jest.base.js';

/** One stack for all files: starting the engines takes longer than the tests. */
export default {
  ...base,
  maxWorkers: 1,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};
