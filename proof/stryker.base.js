import { basename } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
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
  plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner'))],
  testRunner: 'vitest',
  vitest: { configFile: '../../proof/vitest/mutation.ts', related: false },
  coverageAnalysis: 'perTest',
  inPlace: true,
  concurrency: 2,
  timeoutMS: 12_000,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: fileURLToPath(new URL(report, import.meta.url)) },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
};
