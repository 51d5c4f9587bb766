import { basename } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import jestBase from './jest/base.js';
import { subjects } from './mutation-subjects.js';

/**
 * A mutation test of the package in whose folder Stryker runs (proof/scripts/mutation.mjs): the
 * files of one of its subjects are each broken in many small ways, and the subject's tests
 * must notice. With no more tests than those, a change is tried fast.
 * Works in place, since the tests import other packages' files.
 */

const folder = basename(process.cwd());
const subject = subjects[folder]?.find(({ name }) => name === env.MUTATION_SUBJECT);
if (subject === undefined) throw new Error('MUTATION_SUBJECT must be one of mutation-subjects.js');

const report = `.tools/mutation/${folder}-${subject.name}.json`;

export default {
  mutate: subject.mutate,
  plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/jest-runner'))],
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
  // The tests run against the compiled `dist/`.
  buildCommand: 'tsc -p tsconfig.build.json',
  // Tests know the sources only by way of `dist/`.
  jest: {
    enableFindRelatedTests: false,
    config: {
      ...jestBase,
      rootDir: process.cwd(),
      testMatch: subject.tests.map((test) => `<rootDir>/${test}`),
      reporters: ['default'],
      // A test that hangs is cheaper to end than the runner that it hangs in.
      testTimeout: subject.testTimeoutMs ?? 5_000,
    },
  },
  coverageAnalysis: 'perTest',
  inPlace: true,
  concurrency: 2,
  timeoutMS: 12_000,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: fileURLToPath(new URL(report, import.meta.url)) },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
};
