import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  killMarked,
  markedProcesses,
  root,
  setUpPythonEngine,
  UserError,
  type Progress,
} from '@media-services/stack/set-up';
import { runChecks } from './checks.js';
import { lineBudget } from './line-budget.js';
import { runPythonSuite } from './python-suite.js';
import { slowestFiles, summaryLines, totalLine, type SuiteResult } from './suite-result.js';
import { toolVersions } from './tool-versions.js';
import { packageResult, runTurbo } from './turbo.js';
import { readVitestReport, resultsFolder } from './vitest-reports.js';
import { testedFolders } from './workspace.js';

/** The suites that take longest start first. Started last, they would run alone at the end. */
const longest = ['apps/video-dl', 'proof/e2e', 'apps/bg-removal', 'nginx', 'proof/bench'];
/** On two cores, a third slows down the others by more than it gains. */
const suitesAtOnce = 2;
const timeoutMs = 90 * 60_000;
const runMark = 'MEDIA_SERVICES_TEST_RUN';

/**
 * Runs the checks, the download engine's tests, and the tests of every package.
 * @param options.only what to run: `checks`, `engine`, or packages by their folder, such as
 *   `apps/video-dl`; everything if empty
 * @returns 0 if nothing failed, else 1
 */
export async function runTests(options: {
  readonly progress: Pick<Progress, 'say'>;
  readonly env: NodeJS.ProcessEnv;
  readonly only: readonly string[];
  /** Also the tests of the tools, the second yt-dlp, what takes minutes, and cases that differ only in format. */
  readonly nightly?: boolean;
}): Promise<number> {
  const { progress, only, nightly = false } = options;
  const all = [...new Set([...longest, ...testedFolders(root), 'engine', 'checks'])];
  const unknown = only.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new UserError(`There is nothing to test called ${unknown.join(', ')}.`);
  const wanted = all.filter((name) => only.length === 0 || only.includes(name));

  const mark = randomUUID();
  process.once('exit', () => killMarked(mark, runMark)); // interrupted
  const chosen = { ...options.env, TEST_NIGHTLY: nightly ? '1' : '' };
  const env = { ...chosen, TEST_TOOLS: await toolVersions(root, chosen), [runMark]: mark };
  const results: SuiteResult[] = [];
  const waiting = wanted.entries();
  const runWaiting = async () => {
    for (const [index, name] of waiting) {
      progress.say(`… ${name}`);
      const { output, result } = await runSuite(name, env);
      progress.say(`\n── ${name}\n${output.trim()}\n`);
      results[index] = result;
    }
  };
  await Promise.all(Array.from({ length: suitesAtOnce }, runWaiting));
  results.push(leftBehind(mark));

  const budget = only.length === 0 ? await lineBudget(root) : [];
  const report = [summaryLines(results), slowestFiles(results), budget, [totalLine(results)]];
  progress.say(
    `\n${report
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n')}`,
  );
  return results.some(({ failed }) => failed > 0) ? 1 : 0;
}

/** Runs the checks, the engine's tests or those of a package. Set-up has built everything. */
async function runSuite(
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly output: string; readonly result: SuiteResult }> {
  if (name === 'engine') {
    const { python } = await setUpPythonEngine({ root });
    return runPythonSuite({ root, env, python });
  }
  if (name === 'checks') {
    return runChecks({ root, env, timeoutMs });
  }
  rmSync(resultsFolder(root, name), { recursive: true, force: true });
  const run = await runTurbo({ root, env, timeoutMs, args: ['test', `--filter=./${name}`] });
  return { output: run.output, result: packageResult(readVitestReport(root, name), run) };
}

/** Fails if the tests leave a process running (checked only on Linux). */
function leftBehind(mark: string): SuiteResult {
  const failures = markedProcesses(mark, runMark).map(({ command }) => command);
  killMarked(mark, runMark);
  const failed = failures.length > 0 ? 1 : 0;
  return { name: 'nothing left running', passed: 1 - failed, failed, skipped: 0, failures };
}
