import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** `npm run test:nightly` also runs `*.nightly.ts`; `at-night.ts` adds cases. */
const nightly = process.env.TEST_NIGHTLY === '1';

/**
 * Tests run against the compiled `dist/` that ships; only the test files
 * themselves are transformed. Processes, ports and media are real. `npm test` runs two packages at
 * once. Three workers each keep two cores busy while some tests wait; more than four would need much
 * memory for their networks.
 * @type {import('jest').Config}
 */
export default {
  maxWorkers: Math.min(4, Math.max(3, availableParallelism())),
  // Node 20 keeps the modules of finished files. A large worker starts programs and collects garbage slowly.
  workerIdleMemoryLimit: '250MB',
  testEnvironment: fileURLToPath(new URL('environment.js', import.meta.url)),
  // The default, `soft`, recurses for ever when a finished test file's global is set again.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  testMatch: ['<rootDir>/test/**/*.test.ts', ...(nightly ? ['<rootDir>/test/**/*.nightly.ts'] : [])],
  testSequencer: fileURLToPath(new URL('sequencer.js', import.meta.url)),
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  moduleNameMapper: { '^(\\.{1,2}/(?!.*dist/).*)\\.js$': ['$1.ts', '$1.js'] },
  transformIgnorePatterns: ['/node_modules/', '/dist/'],
  // After dozens of files, a worker takes over half a second to free its memory on a busy machine.
  workerGracefulExitTimeout: 20_000,
  // Only a test that hangs takes this long, however slow the machine is.
  testTimeout: 300_000,
  setupFilesAfterEnv: [fileURLToPath(new URL('retry.js', import.meta.url))],
  reporters: ['default', fileURLToPath(new URL('report.js', import.meta.url))],
};
