import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { crashed } from './suite-result.mjs';
import { runGroup } from './run-group.mjs';

const name = 'download engine (Python)';

/** The download engine's own unit tests, where it has any. */
export async function runPythonSuite({ root, env, python }) {
  const engine = join(root, 'apps', 'video-dl', 'engine');
  if (!existsSync(join(engine, 'tests'))) return undefined;
  let output = '';
  const { code, timedOut } = await runGroup(
    python,
    ['-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'],
    {
      cwd: engine,
      env,
      timeoutMs: 3 * 60_000,
      onOutput: (text) => (output += text),
    },
  );
  if (code !== 0) process.stdout.write(output);
  const result = unittestResult(output);
  if (result === undefined || timedOut)
    return crashed(name, timedOut ? 'no result in time' : `ended with ${code}`);
  return result;
}

/** unittest's closing lines as a suite result; undefined where there are none. */
export function unittestResult(output) {
  const ran = /^Ran (\d+) tests? in /m.exec(output)?.[1];
  const verdict = /^(OK|FAILED)(?: \((.*)\))?$/m.exec(output);
  if (ran === undefined || verdict === null) return undefined;
  const counts = Object.fromEntries((verdict[2] ?? '').split(', ').map((each) => each.split('=')));
  const failed = Number(counts.failures ?? 0) + Number(counts.errors ?? 0);
  const skipped = Number(counts.skipped ?? 0);
  const failures = [...output.matchAll(/^(?:FAIL|ERROR): (.*)$/gm)].map(([, title]) => title);
  return { name, passed: Number(ran) - failed - skipped, failed, skipped, failures };
}
