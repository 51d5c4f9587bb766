import { basename, resolve } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * A mutation test of the package in whose folder Stryker runs (scripts/mutation.mjs): the
 * files of one subject of its `mutation.config.js` are each broken in many small ways, and
 * the subject's tests must notice. With no more tests than those, a change is tried fast.
 * Works in place, since the tests import other packages' files.
 * @typedef {{ name: string, mutate: string[], tests: string[], testTimeoutMs?: number }} Subject
 */

/** @type {{ default: Subject[] }} */
const { default: subjects } = await import(pathToFileURL(resolve('mutation.config.js')).href);
const subject = subjects.find(({ name }) => name === env.MUTATION_SUBJECT);
if (subject === undefined) throw new Error('MUTATION_SUBJECT must be one of mutation.config.js');

const report = `.tools/mutation/${basename(process.cwd())}-${subject.name}.json`;

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
