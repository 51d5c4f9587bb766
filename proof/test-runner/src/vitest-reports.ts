import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { crashed, type SuiteResult } from './suite-result.js';

/** The part of vitest's JSON report that is counted. */
const vitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      /** Why the file could not be run at all. */
      message: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
});

type VitestReport = z.infer<typeof vitestReport>;

/** Where a package's tests put their results. */
export function resultsFolder(root: string, folder: string): string {
  return join(root, folder, 'test-results');
}

/** Reads what vitest found in a package; no report is a failure. */
export function readVitestReport(root: string, folder: string): SuiteResult {
  const file = join(resultsFolder(root, folder), 'report.json');
  if (!existsSync(file)) return crashed(folder, 'vitest ended without a result');
  const report = vitestReport.parse(JSON.parse(readFileSync(file, 'utf8')));
  return vitestResult(folder, report, join(root, folder));
}

/** A package's report as a suite result. */
function vitestResult(name: string, report: VitestReport, folder: string): SuiteResult {
  const files = report.testResults.map((result) => ({ ...result, file: relative(folder, result.name) }));
  const failures = files.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
  // A file that fails without a failed test couldn't be loaded, or one of its hooks failed.
  const broken = files
    .filter(
      ({ status, assertionResults }) =>
        status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
    )
    .map(({ file, message }) => `${file}: ${message.trim().split('\n')[0] ?? ''}`);
  return {
    name,
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [...failures, ...broken],
    files: files.map(({ file, startTime, endTime }) => ({ file, seconds: (endTime - startTime) / 1000 })),
  };
}
