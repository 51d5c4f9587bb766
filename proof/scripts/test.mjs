import { Progress, runScript, setUp } from '../../packages/stack/src/set-up/index.mjs';

const usage = `npm test [-- NAME…]
npm run test:nightly [-- NAME…]
Sets up, builds, then runs every check and every test. The last line says "N passed, N failed".
  NAME  run only this: a package by its folder (apps/video-dl), engine (Python) or
        checks (lint, types, format, imports, dead code)
test:nightly adds the tests of the tools, the second yt-dlp, what takes minutes, rare files, much of
the page, and every container, codec and output where the day tries one of each kind.`;

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

await runScript(
  { usage, options: { nightly: { type: 'boolean' } }, allowPositionals: true },
  async ({ values, positionals }) => {
    const progress = new Progress();
    const env = await setUp({ progress, testTools: true });
    // Built by set-up.
    const { runTests } = await import('../test-runner/dist/run-tests.js');
    return runTests({ progress, env, nightly: values.nightly === true, only: positionals });
  },
);
