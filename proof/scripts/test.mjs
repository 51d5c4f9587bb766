// npm test: set-up, build, then every check and every test of every package. The last line
// says `N passed, N failed`. `npm test -- nginx apps/video-dl` runs only what is named:
// packages by their folder, `engine` (Python), `checks` (lint, types, format, imports, dead code).
// `npm run test:nightly` adds the tests of the tools, the second yt-dlp and what takes minutes.
import { Progress, runCommandLine, setUp } from '../../packages/stack/src/set-up/index.mjs';

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

await runCommandLine(async () => {
  const progress = new Progress();
  const env = await setUp({ progress, testTools: true });
  // Built by set-up.
  const { runTests } = await import('../test-runner/dist/run-tests.js');
  const args = process.argv.slice(2);
  const nightly = args.includes('--nightly');
  return runTests({ progress, env, nightly, only: args.filter((arg) => arg !== '--nightly') });
});
