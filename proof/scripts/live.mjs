import { Progress, runScript, setUp } from '../../packages/stack/src/set-up/index.mjs';

const usage = `npm run proof -- live [--double] [--state FILE] [--report FILE]
Looks public pages up at their sites and downloads the first seconds of each as MP3 and MP4, decodes
them and prints a table. A site that is down fails only its row; the exit code is 0.
  --double       read the double of popular sites instead; needs no internet
  --state FILE   remember which pages worked, as JSON
  --report FILE  write a text for an issue if a page that worked in the last run doesn't any more`;

const text = /** @type {const} */ ({ type: 'string' });
const options = /** @type {const} */ ({ double: { type: 'boolean' }, state: text, report: text });

await runScript({ usage, options }, async ({ values }) => {
  const progress = new Progress();
  const env = await setUp({ progress });
  const { double, state, report } = /** @type {{ double?: boolean, state?: string, report?: string }} */ (
    values
  );
  // Built by set-up.
  const { runLive } = await import('../corpora/dist/live.js');
  await runLive({ progress, env, double: double === true, state, report });
});
