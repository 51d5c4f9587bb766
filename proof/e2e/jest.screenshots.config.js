import config from './jest.config.js';

/** Not a test: pictures of every state of the page, to be looked at. */
export default { ...config, testMatch: ['<rootDir>/test/screenshots/*.shots.ts'], testTimeout: 600_000 };
