// npm run setup: everything that `npm start` needs, without starting anything.
import { Progress } from './lib/progress.mjs';
import { setUp } from './lib/set-up/set-up.mjs';
import { runCommandLine } from './lib/user-error.mjs';

await runCommandLine(async () => {
  const progress = new Progress();
  await setUp({ progress, forTests: process.argv.includes('--tests') });
  progress.say('\nReady: `npm start` runs the services, `npm test` the tests.');
});
