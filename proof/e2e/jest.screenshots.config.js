import config from './jest.config.js';

/** Not a test suite: takes screenshots of every state of the page, for people to look at. */
export default { ...config, testMatch: ['<rootDir>/test/screenshots/*.shots.ts'], testTimeout: 600_000 };
