import { defineConfig } from 'vitest/config';
import base from './base.js';

/** Folders whose tests need no media, or make what they need themselves. */
const unit = '{extract,formats,manifests,plan,upstream}';
/** Measures this process's memory, so nothing else may have run in it. */
const measured = 'test/parser-process/parsers.security.test.ts';
const { include = [], ...shared } = base.test ?? {};

export default defineConfig({
  ...base,
  test: {
    ...shared,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: include.map((pattern) => pattern.replace('test/', `test/${unit}/`)) },
      },
      {
        extends: true,
        test: {
          name: 'media',
          include,
          exclude: [`test/${unit}/**`, measured],
          // Before the tests: a request that waits until its file is encoded may exceed a timeout.
          globalSetup: 'test/support/make-media.ts',
        },
      },
      { extends: true, test: { name: 'measured', include: [measured], isolate: true } },
    ],
  },
});
