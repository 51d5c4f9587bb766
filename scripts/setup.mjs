// npm run setup: installs everything that `npm start` and development need, without starting
// anything. `-- --tests` adds the programs that only tests use.
import { Progress, runCommandLine, setUp } from '../packages/stack/src/set-up/index.mjs';

await runCommandLine(async () => {
  const progress = new Progress();
  await setUp({ progress, testTools: process.argv.includes('--tests') });
  progress.say('\nReady: `npm start` runs the services, `npm test` the tests.');
});
