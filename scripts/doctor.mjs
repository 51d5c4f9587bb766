// npm run doctor: what is installed, in which version, what is missing, and the fix.
import { diagnose, readSettings, root, runCommandLine } from '../packages/set-up/src/index.mjs';

const signs = { ok: '✓', warning: '!', missing: '✗' };

await runCommandLine(async () => {
  readSettings();
  const diagnoses = await diagnose(root);
  const width = Math.max(...diagnoses.map(({ name }) => name.length));
  for (const { name, state, found, fix } of diagnoses) {
    console.log(`${signs[state]} ${name.padEnd(width)}  ${found}`);
    if (fix !== undefined) console.log(`  ${' '.repeat(width)}  → ${fix}`);
  }
  const missing = diagnoses.filter(({ state }) => state === 'missing').length;
  console.log(
    missing === 0 ? '\nReady: npm start' : `\n${missing} missing. \`npm start\` installs what it can.`,
  );
  return missing === 0 ? 0 : 1;
});
