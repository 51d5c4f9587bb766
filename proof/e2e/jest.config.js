import base from '../../jest.base.js';

/** One stack for all files: starting the engines takes longer than the tests. */
export default {
  ...base,
  maxWorkers: 1,
  // Several slow steps each: a busy machine needs time, and only a failure waits this long.
  testTimeout: 180_000,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};
