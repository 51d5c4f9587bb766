import { diagnose, readSettings, root, runScript } from '../packages/stack/src/set-up/index.mjs';

const usage = `npm run doctor
Shows installed versions, missing programs, invalid settings, and how to fix them.`;

const signs = { ok: '✓', warning: '!', missing: '✗', wrong: '✗' };

await runScript({ usage }, async () => {
  readSettings();
  const diagnoses = await diagnose(root);
  const width = Math.max(...diagnoses.map(({ name }) => name.length));
  for (const { name, state, found, fix } of diagnoses) {
    console.log(`${signs[state]} ${name.padEnd(width)}  ${found}`);
    if (fix !== undefined) console.log(`  ${' '.repeat(width)}  → ${fix}`);
  }
  const count = (/** @type {string} */ wanted) => diagnoses.filter(({ state }) => state === wanted).length;
  const [missing, wrong] = [count('missing'), count('wrong')];
  const outcome = [
    ...(missing > 0 ? [`${missing} missing: \`npm start\` installs what it can.`] : []),
    ...(wrong > 0 ? [`${wrong} to correct in .env or the environment: see docs/configuration.md`] : []),
  ];
  console.log(`\n${outcome.length === 0 ? 'Ready: npm start' : outcome.join('\n')}`);
  return outcome.length === 0 ? 0 : 1;
});
