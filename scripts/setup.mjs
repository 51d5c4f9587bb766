// npm run setup: everything that `npm start` needs, without starting anything.
import { Progress, runCommandLine, setUp } from '../packages/stack/src/set-up/index.mjs';

await runCommandLine(async () => {
  const progress = new Progress();
  await setUp({ progress, forTests: process.argv.includes('--tests') });
  progress.say('\nReady: `npm start` runs the services, `npm test` the tests.');
});
