import { join } from 'node:path';
import { runGroup } from './run-group.js';
import { crashed, type SuiteResult } from './suite-result.js';

const name = 'download engine (Python)';

/** The download engine's own unit tests. */
export async function runPythonSuite(options: {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** The interpreter that set-up has chosen. */
  readonly python: string;
}): Promise<{ readonly output: string; readonly result: SuiteResult }> {
  const { root, env, python } = options;
  let output = '';
  const { code, timedOut } = await runGroup(python, ['-m', 'unittest', 'discover', '-s', 'tests'], {
    cwd: join(root, 'apps', 'video-dl', 'engine'),
    env,
    timeoutMs: 15 * 60_000,
    onOutput: (text) => (output += text),
  });
  const result = timedOut ? undefined : unittestResult(output);
  return {
    output: code === 0 ? '' : output,
    result: result ?? crashed(name, timedOut ? 'no result in time' : `ended with ${code}`),
  };
}

/** unittest's closing lines as a suite result; undefined without them. */
function unittestResult(output: string): SuiteResult | undefined {
  const ran = /^Ran (\d+) tests? in /m.exec(output)?.[1];
  const verdict = /^(?:OK|FAILED)(?: \((.*)\))?$/m.exec(output);
  if (ran === undefined || verdict === null) return undefined;
  const counts = new Map(
    (verdict[1] ?? '').split(', ').map((each) => [each.split('=')[0], each.split('=')[1]]),
  );
  const count = (what: string) => Number(counts.get(what) ?? 0);
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  const failures = [...output.matchAll(/^(?:FAIL|ERROR): (.*)$/gm)].map(([, title = '']) => title);
  return { name, passed: Number(ran) - failed - skipped, failed, skipped, failures };
}
