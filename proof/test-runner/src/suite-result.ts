/** What one runner of tests found. */
export interface SuiteResult {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One line each. */
  readonly failures: readonly string[];
}

/** A runner that could not finish counts as one failed test. */
export function crashed(name: string, reason: string, partial?: SuiteResult): SuiteResult {
  const { passed = 0, failed = 0, skipped = 0, failures = [] } = partial ?? {};
  return { name, passed, failed: failed + 1, skipped, failures: [...failures, reason] };
}

/** The last line of `npm test`. */
export function totalLine(results: readonly SuiteResult[]): string {
  const sum = (field: 'passed' | 'failed' | 'skipped') =>
    results.reduce((total, result) => total + result[field], 0);
  const skipped = sum('skipped');
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** What each suite did and every failure, for the end of the run. */
export function summaryLines(results: readonly SuiteResult[]): string[] {
  const width = Math.max(...results.map(({ name }) => name.length));
  const suites = results.map(
    (result) => `${result.failed > 0 ? '✗' : '✓'} ${result.name.padEnd(width)}  ${totalLine([result])}`,
  );
  const failures = results.flatMap(({ name, failures: list }) =>
    list.map((failure) => `✗ ${name} › ${failure}`),
  );
  return failures.length === 0 ? suites : [...suites, '', 'Failures:', ...failures];
}
