import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Progress, root, runScript, setUp } from '../../packages/stack/src/set-up/index.mjs';
import { isTestPath, runTestFiles } from './test-files.mjs';

const usage = `npm test [-- [--nightly] NAME…]
npm test -- [--watch] FILE…
Sets up, builds, then runs every check and every test. The last line says "N passed, N failed".
  NAME       run only this: a package by its folder (apps/video-dl), engine (Python) or
             checks (lint, types, format, imports, dead code)
  FILE       run only this test file or folder of tests (apps/video-dl/test/plan), without set-up
  --watch    run the files again after each change
  --nightly  add the tests of the tools, the second yt-dlp, what takes minutes, rare files, much of
             the page, and every container, codec and output where the day tries one of each kind`;

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

await runScript(
  {
    usage,
    options: { nightly: { type: 'boolean' }, watch: { type: 'boolean' } },
    allowPositionals: true,
  },
  async ({ values, positionals }) => {
    const progress = new Progress();
    const nightly = values.nightly === true;
    if (positionals.length > 0 && positionals.every(isTestPath)) {
      if (!existsSync(join(root, 'node_modules'))) await setUp({ progress });
      return runTestFiles({ files: positionals, watch: values.watch === true, nightly });
    }
    const env = await setUp({ progress, testTools: nightly ? 'nightly' : true });
    // Built by set-up.
    const { runTests } = await import('../test-runner/dist/run-tests.js');
    return runTests({ progress, env, nightly, only: positionals });
  },
);
