import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crashed } from './suite-result.mjs';
import { runGroup } from './run-group.mjs';
import { workspaceFolders } from './workspace.mjs';

const timeoutMs = 10 * 60_000;

/** Workspace packages that have jest tests. */
export function jestPackages(root) {
  return workspaceFolders(root)
    .filter(
      (folder) => existsSync(join(root, folder, 'jest.config.js')) && hasTests(join(root, folder, 'test')),
    )
    .map((folder) => ({ name: folder, folder: join(root, folder) }));
}

function hasTests(folder) {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true }).some((file) => file.endsWith('.test.ts'));
}

/** Runs one package's tests; the report is jest's own, so that nothing is counted twice or lost. */
export async function runJestSuite({ root, env, resultsDir, name, folder }) {
  mkdirSync(resultsDir, { recursive: true });
  const outputFile = join(resultsDir, `${name.replaceAll('/', '-')}.json`);
  rmSync(outputFile, { force: true });
  const { code, timedOut } = await runGroup(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--no-warnings', join(root, 'node_modules', 'jest', 'bin', 'jest.js')],
      ...['--json', `--outputFile=${outputFile}`],
    ],
    { cwd: folder, env, timeoutMs },
  );
  const report = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, 'utf8')) : undefined;
  if (report === undefined) {
    return crashed(
      name,
      timedOut ? `no result after ${timeoutMs / 60_000} minutes` : `jest ended with ${code} and no result`,
    );
  }
  const result = jestResult(name, report);
  if (timedOut)
    return crashed(name, 'the tests were over, but something they started kept jest running', result);
  if (code !== 0 && result.failed === 0) return crashed(name, `jest ended with ${code}`, result);
  return result;
}

/** jest's JSON report as a suite result. */
export function jestResult(name, report) {
  const failures = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
  const broken = report.testResults
    .filter(
      (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
    )
    .map((file) => `${file.name.split('/test/').at(-1)}: ${file.message.trim().split('\n')[0]}`);
  return {
    name,
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [...failures, ...broken],
  };
}
