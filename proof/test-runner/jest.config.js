import base from '../jest/base.js';

/** Linters and compilers start slowly. */
export default { ...base, testTimeout: 300_000 };
