import { Progress, runScript, setUp } from '../packages/stack/src/set-up/index.mjs';

const usage = `npm run setup [-- --tests]
Installs everything that \`npm start\` and development need, without starting anything.
  --tests  also install the programs that only tests use`;

await runScript({ usage, options: { tests: { type: 'boolean' } } }, async ({ values }) => {
  const progress = new Progress();
  await setUp({ progress, testTools: values.tests === true });
  progress.say('\nReady: `npm start` runs the services, `npm test` the tests.');
});
