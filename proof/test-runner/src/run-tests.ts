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
import { readJestReport, resultsFolder } from './jest-reports.js';
import { runPythonSuite } from './python-suite.js';
import { slowestFiles, summaryLines, totalLine, type SuiteResult } from './suite-result.js';
import { toolVersions } from './tool-versions.js';
import { cachedFolders, checksResult, runTurboTasks } from './turbo-tasks.js';
import { testedFolders } from './workspace.js';

/** Checks of all code, tests included. */
const checkTasks = ['lint', 'format:check', 'check:imports', 'check:unused'];
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
  /** Also the tests of the tools, the second yt-dlp and what takes minutes. */
  readonly nightly?: boolean;
}): Promise<number> {
  const { progress, only, nightly = false } = options;
  const env = { ...options.env, TEST_NIGHTLY: nightly ? '1' : '' };
  const wanted = (name: string) => only.length === 0 || only.includes(name);
  const folders = testedFolders(root).filter(wanted);
  const unknown = only.filter((name) => !['checks', 'engine', ...folders].includes(name));
  if (unknown.length > 0) throw new UserError(`There is nothing to test called ${unknown.join(', ')}.`);

  const results = await Promise.all([
    ...(wanted('engine') ? [runEngineTests(env)] : []),
    runTasks({ progress, env, checks: wanted('checks'), folders }),
  ]).then((suites) => suites.flat());

  const report = [summaryLines(results), slowestFiles(results), [totalLine(results)]];
  progress.say(
    `\n${report
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n')}`,
  );
  return results.some(({ failed }) => failed > 0) ? 1 : 0;
}

async function runEngineTests(env: NodeJS.ProcessEnv): Promise<SuiteResult> {
  const { python } = await setUpPythonEngine({ root });
  return runPythonSuite({ root, env, python });
}

/** Three tasks at a time: while one waits for a browser or a timeout, the others work. */
async function runTasks(options: {
  readonly progress: Pick<Progress, 'say'>;
  readonly env: NodeJS.ProcessEnv;
  readonly checks: boolean;
  readonly folders: readonly string[];
}): Promise<SuiteResult[]> {
  const { progress, env, checks, folders } = options;
  const tasks = [...(checks ? checkTasks : []), ...(folders.length > 0 ? ['test'] : [])];
  if (tasks.length === 0) return [];
  for (const folder of folders) rmSync(resultsFolder(root, folder), { recursive: true, force: true });
  const mark = randomUUID();
  progress.say(`\n── ${tasks.join(', ')}`);
  const run = await runTurboTasks({
    tasks,
    root,
    env: { ...env, TEST_TOOLS: await toolVersions(root, env), [runMark]: mark },
    timeoutMs,
    args: [
      ...['--concurrency=3', '--log-order=grouped', '--output-logs=new-only'],
      ...(checks ? ['--filter=//'] : []),
      ...folders.map((folder) => `--filter=./${folder}`),
    ],
  });
  const cached = cachedFolders(run.summary, 'test');
  return [
    ...(checks ? [checksResult('checks', run, checkTasks)] : []),
    ...folders.map((folder) => ({ ...readJestReport(root, folder), cached: cached.has(folder) })),
    leftBehind(mark),
  ];
}

/** Fails if the tests leave a process running (checked only on Linux). */
function leftBehind(mark: string): SuiteResult {
  const failures = markedProcesses(mark, runMark).map(({ command }) => command);
  killMarked(mark, runMark);
  const failed = failures.length > 0 ? 1 : 0;
  return { name: 'nothing left running', passed: 1 - failed, failed, skipped: 0, failures };
}
