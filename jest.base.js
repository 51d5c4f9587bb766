import { fileURLToPath } from 'node:url';

/**
 * Tests run against the compiled `dist/` that ships; only the test files
 * themselves are transformed. Real processes, ports and media: one worker.
 * @type {import('jest').Config}
 */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  moduleNameMapper: { '^(\\.{1,2}/(?!.*dist/).*)\\.js$': ['$1.ts', '$1.js'] },
  transformIgnorePatterns: ['/node_modules/', '/dist/'],
  testTimeout: 60_000,
  reporters: ['default', fileURLToPath(new URL('jest.report.js', import.meta.url))],
};
