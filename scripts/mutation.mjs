// pnpm run mutation [NAME…], in a package: the mutation tests of its mutation.config.js, or those named.
import { basename, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Stryker } from '@stryker-mutator/core';

/**
 * Files of a package, each broken in many small ways, and the tests that must notice. With
 * no more tests than that, a change is tried in half a second.
 * @typedef {{ name: string, mutate: string[], tests: string[], testTimeoutMs?: number }} Subject
 */

const reports = new URL('../.tools/mutation/', import.meta.url);

/** Options of Stryker. Works in place, since the tests import other packages' files. @param {Subject} subject */
const optionsOf = ({ name, mutate, tests, testTimeoutMs = 5_000 }) => ({
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
  timeoutMS: 12_000,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: fileURLToPath(new URL(`${basename(process.cwd())}-${name}.json`, reports)) },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
});

const wanted = process.argv.slice(2);
/** @type {{ default: Subject[] }} */
const { default: subjects } = await import(pathToFileURL(resolve('mutation.config.js')).href);
for (const subject of subjects) {
  if (wanted.length === 0 || wanted.includes(subject.name))
    await new Stryker(optionsOf(subject)).runMutationTest();
}
