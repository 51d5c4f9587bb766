import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { subjects } from '../mutation-subjects.js';
import base from './base.js';

const subject = subjects[basename(process.cwd())]?.find(
  ({ name }) => name === process.env['MUTATION_SUBJECT'],
);

/** Stryker's: the tests of one subject. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: subject?.tests ?? [],
    // A test that hangs is cheaper to end than the runner that it hangs in.
    testTimeout: subject?.testTimeoutMs ?? 5_000,
    reporters: ['default'],
  },
});
