import { join } from 'node:path';
import { runGroup } from './run-group.js';
import type { SuiteResult } from './suite-result.js';

/** What `npm test` checks of all code, tests included, and the program that does. */
const checks: Readonly<Record<string, readonly [string, ...string[]]>> = {
  lint: ['oxlint', '.', '.dependency-cruiser.js'],
  format: ['oxfmt', '--check'],
  'types of the page': ['tsc', '-p', 'nginx/tsconfig.page.json'],
  'types of njs': ['tsc', '-p', 'nginx/tsconfig.njs.json'],
  imports: [
    'depcruise',
    ...['apps', 'packages', 'nginx', 'docs', 'scripts', 'proof'],
    ...['--config', '.dependency-cruiser.js'],
  ],
  'dead code': ['knip', '--no-config-hints'],
};

/** Runs every check, each as one test; one that can't run fails. */
export async function runChecks({
  root,
  env,
  timeoutMs,
}: {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}): Promise<{ readonly output: string; readonly result: SuiteResult }> {
  let output = '';
  const failures: string[] = [];
  for (const [name, [program, ...args]] of Object.entries(checks)) {
    const { code } = await runGroup(join(root, 'node_modules', '.bin', program), args, {
      cwd: root,
      env,
      timeoutMs,
      onOutput: (text) => (output += text),
    });
    if (code !== 0) failures.push(name);
  }
  const failed = failures.length;
  return {
    output,
    result: { name: 'checks', passed: Object.keys(checks).length - failed, failed, skipped: 0, failures },
  };
}
