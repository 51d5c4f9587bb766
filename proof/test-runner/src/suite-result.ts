/** The result of one test runner. */
export interface SuiteResult {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One line each. */
  readonly failures: readonly string[];
  /** How long each of its files took, if the runner reports it. */
  readonly files?: readonly { readonly file: string; readonly seconds: number }[];
  /** Nothing it depends on has changed since it last ran, so its results were replayed. */
  readonly cached?: boolean;
}

/** A runner that couldn't finish counts as one failed test. */
export function crashed(name: string, reason: string, partial?: SuiteResult): SuiteResult {
  const { passed = 0, failed = 0, skipped = 0, failures = [], files = [] } = partial ?? {};
  return { name, passed, failed: failed + 1, skipped, failures: [...failures, reason], files };
}

/** The last line of `npm test`. */
export function totalLine(results: readonly SuiteResult[]): string {
  const sum = (field: 'passed' | 'failed' | 'skipped') =>
    results.reduce((total, result) => total + result[field], 0);
  const skipped = sum('skipped');
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** The test files that took longest in this run. */
export function slowestFiles(results: readonly SuiteResult[], count = 10): string[] {
  const files = results
    .filter(({ cached }) => !cached)
    .flatMap(({ name, files: list = [] }) => list.map((each) => ({ ...each, file: `${name}/${each.file}` })));
  const slowest = files.toSorted((left, right) => right.seconds - left.seconds).slice(0, count);
  if (slowest.length === 0) return [];
  return [
    'Slowest files:',
    ...slowest.map(({ file, seconds }) => `${seconds.toFixed(0).padStart(5)} s  ${file}`),
  ];
}

/** Each suite's result and every failure, for the end of the run. */
export function summaryLines(results: readonly SuiteResult[]): string[] {
  const width = Math.max(...results.map(({ name }) => name.length));
  const suites = results.map(
    (result) =>
      `${result.failed > 0 ? '✗' : '✓'} ${result.name.padEnd(width)}  ${totalLine([result])}${timeOf(result)}`,
  );
  const failures = results.flatMap(({ name, failures: list }) =>
    list.map((failure) => `✗ ${name} › ${failure}`),
  );
  return [...suites, ...(failures.length === 0 ? [] : ['', 'Failures:', ...failures])];
}

function timeOf({ cached, files = [] }: SuiteResult): string {
  if (cached) return '  (cached: nothing it depends on has changed)';
  const seconds = files.reduce((total, each) => total + each.seconds, 0);
  return seconds === 0 ? '' : `  (${seconds.toFixed(0)} s in ${files.length} files)`;
}
