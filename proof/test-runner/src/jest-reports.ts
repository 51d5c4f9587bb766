import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { crashed, type SuiteResult } from './suite-result.js';

/** What `proof/jest/report.js` writes for one package: the part of jest's own result that is counted. */
const jestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  /** Something the tests started kept jest running. */
  hung: z.boolean(),
  testResults: z.array(
    z.object({
      file: z.string(),
      /** Why the file could not be run at all. */
      broken: z.string().optional(),
      seconds: z.number(),
      failures: z.array(z.string()),
      /** Failed at first, passed in a second run. */
      retried: z.array(z.string()),
    }),
  ),
});

export type JestReport = z.infer<typeof jestReport>;

/** Where a package's tests put their results. */
export function resultsFolder(root: string, folder: string): string {
  return join(root, folder, 'test-results');
}

/** Reads what jest found in a package; no report is a failure. */
export function readJestReport(root: string, folder: string): SuiteResult {
  const file = join(resultsFolder(root, folder), 'report.json');
  if (!existsSync(file)) return crashed(folder, 'jest ended without a result');
  return jestResult(folder, jestReport.parse(JSON.parse(readFileSync(file, 'utf8'))));
}

/** A package's report as a suite result. */
export function jestResult(name: string, report: JestReport): SuiteResult {
  const failures = report.testResults.flatMap(({ failures: list }) => list);
  const broken = report.testResults.flatMap(({ file, broken: reason }) =>
    reason === undefined ? [] : [`${file}: ${reason}`],
  );
  const result = {
    name,
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [...failures, ...broken],
    retried: report.testResults.flatMap(({ retried }) => retried),
    files: report.testResults.map(({ file, seconds }) => ({ file, seconds })),
  };
  return report.hung
    ? crashed(name, 'the tests were over, but something they started kept jest running', result)
    : result;
}
