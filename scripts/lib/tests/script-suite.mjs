import { join } from 'node:path';
import { readdirSync } from 'node:fs';
import { crashed } from './suite-result.mjs';
import { runGroup } from './run-group.mjs';

const name = 'scripts';

/** The tests of these scripts themselves, with Node's own runner. */
export async function runScriptSuite({ root, env }) {
  const folder = join(root, 'scripts', 'test');
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.mjs'));
  let tap = '';
  const { code, timedOut } = await runGroup(
    process.execPath,
    ['--test', '--test-reporter=tap', ...files.map((file) => join(folder, file))],
    { cwd: root, env, timeoutMs: 3 * 60_000, onOutput: (text) => (tap += text) },
  );
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(tap)?.[1] ?? Number.NaN);
  const [passed, failed, skipped] = ['pass', 'fail', 'skipped'].map(count);
  if (timedOut || Number.isNaN(passed + failed + skipped)) {
    process.stdout.write(tap);
    return crashed(name, timedOut ? 'no result in time' : `node --test ended with ${code} and no result`);
  }
  if (failed > 0) process.stdout.write(tap);
  const failures = [...tap.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, title]) => title);
  return { name, passed, failed, skipped, failures };
}
