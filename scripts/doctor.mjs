import { diagnose } from '../packages/stack/src/doctor/doctor.mjs';
import { readSettings, runScript } from '../packages/stack/src/set-up/index.mjs';

const usage = `npm run doctor
Shows installed versions, missing programs, invalid settings, and how to fix them.`;

const signs = { ok: '✓', warning: '!', wrong: '✗' };

await runScript({ usage }, async () => {
  readSettings();
  const diagnoses = await diagnose();
  const width = Math.max(...diagnoses.map(({ name }) => name.length));
  for (const { name, state, found, fix } of diagnoses) {
    console.log(`${signs[state]} ${name.padEnd(width)}  ${found}`);
    if (fix !== undefined) console.log(`  ${' '.repeat(width)}  → ${fix}`);
  }
  const wrong = diagnoses.filter(({ state }) => state === 'wrong').length;
  console.log(wrong === 0 ? '\nReady: npm start' : `\n${wrong} to correct`);
  return wrong === 0 ? 0 : 1;
});
