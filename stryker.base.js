import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A mutation test of some files of a package: each is broken in many small ways, and the
 * package's tests must notice. Works in place, since the tests import other packages' files.
 * @param {{ mutate: string[], tests: string[], report?: string, testTimeoutMs?: number }} options
 *   files and test files, below the package; the name of the report where a package has several
 * @returns {object} options of Stryker
 */
export const mutationTest = ({
  mutate,
  tests,
  report = basename(process.cwd()),
  testTimeoutMs = 15_000,
}) => ({
  mutate,
  plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/jest-runner'))],
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
  // The tests run against the compiled `dist/`.
  buildCommand: 'tsc -p tsconfig.build.json',
  // Tests know the sources only by way of `dist/`.
  jest: {
    enableFindRelatedTests: false,
    config: {
      testMatch: tests.map((test) => `<rootDir>/${test}`),
      reporters: ['default'],
      // A test that hangs is cheaper to end than the runner that it hangs in.
      testTimeout: testTimeoutMs,
    },
  },
  coverageAnalysis: 'perTest',
  inPlace: true,
  concurrency: 2,
  timeoutMS: 20_000,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: `../../.tools/mutation/${report}.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
});
