import { root } from '@media-services/stack/set-up';
import { runChecks } from '../src/checks.js';
import { budgets, lineBudget } from '../src/line-budget.js';
import { unittestResult } from '../src/python-suite.js';
import { crashed, slowestFiles, summaryLines, totalLine } from '../src/suite-result.js';
import { packageResult } from '../src/turbo.js';
import { vitestResult } from '../src/vitest-reports.js';
import { testedFolders } from '../src/workspace.js';

test('every package of the workspace that has tests is run', () => {
  expect(testedFolders(root)).toEqual(
    expect.arrayContaining([
      'packages/http-common',
      'apps/video-dl',
      'apps/bg-removal',
      'nginx',
      'proof/e2e',
    ]),
  );
});

const suite = (passed: number, failed: number, skipped = 0) => ({
  name: 'a',
  passed,
  failed,
  skipped,
  failures: [],
});

test('the last line counts all suites, and mentions skipped tests only if there are any', () => {
  expect(totalLine([suite(3, 0), suite(4, 1)])).toBe('7 passed, 1 failed');
  expect(totalLine([suite(3, 0, 2)])).toBe('3 passed, 0 failed, 2 skipped');
});

test('a crashed runner is a failure, in addition to its results', () => {
  expect(crashed('a', 'no result', suite(3, 1))).toMatchObject({
    passed: 3,
    failed: 2,
    failures: ['no result'],
  });
});

test('every failure is listed under its suite', () => {
  const lines = summaryLines([suite(1, 0), { ...suite(0, 1), name: 'b', failures: ['does not work'] }]);

  expect(lines).toContain('✗ b › does not work');
});

test('the slowest files are listed, slowest first, without those whose results were replayed', () => {
  const files = [
    { file: 'quick.test.ts', seconds: 1 },
    { file: 'slow.test.ts', seconds: 30.4 },
  ];
  const lines = slowestFiles([
    { ...suite(2, 0), files },
    { ...suite(2, 0), name: 'b', files, cached: true },
  ]);

  expect(lines).toEqual(['Slowest files:', '   30 s  a/slow.test.ts', '    1 s  a/quick.test.ts']);
});

const report = {
  numPassedTests: 1,
  numFailedTests: 1,
  numPendingTests: 0,
  numTodoTests: 1,
  testResults: [
    {
      name: '/x/test/a.test.ts',
      status: 'failed',
      message: '',
      startTime: 1000,
      endTime: 3000,
      assertionResults: [
        { status: 'failed', fullName: 'a fails' },
        { status: 'passed', fullName: 'a works' },
      ],
    },
    {
      name: '/x/test/b.test.ts',
      status: 'failed',
      message: 'SyntaxError: no\n  at b.test.ts',
      startTime: 1000,
      endTime: 1000,
      assertionResults: [],
    },
  ],
};

test('a test file that vitest cannot even load is a failure', () => {
  expect(vitestResult('x', report, '/x')).toEqual({
    name: 'x',
    passed: 1,
    failed: 2,
    skipped: 1,
    failures: ['a fails', 'test/b.test.ts: SyntaxError: no'],
    files: [
      { file: 'test/a.test.ts', seconds: 2 },
      { file: 'test/b.test.ts', seconds: 0 },
    ],
  });
});

test("unittest's closing lines are parsed", () => {
  expect(unittestResult('Traceback …')).toBeUndefined();
  expect(
    unittestResult('ERROR: test_a (x)\n\nRan 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)\n'),
  ).toMatchObject({ passed: 5, failed: 3, skipped: 1, failures: ['test_a (x)'] });
  expect(unittestResult('Ran 1 test in 0.1s\n\nOK\n')).toMatchObject({ passed: 1, failed: 0 });
});

test('a check that fails or cannot be started is a failure', async () => {
  const commands = {
    good: ['oxfmt', '--version'],
    bad: ['oxfmt', '--nonsense'],
    missing: ['no-such-program'],
  } as const;

  const { result, output } = await runChecks({ root, env: process.env, timeoutMs: 60_000, commands });

  expect(result).toMatchObject({ passed: 1, failed: 2, failures: ['bad', 'missing'] });
  expect(output).toContain('nonsense');
});

test("a package's tests that passed in a run of turbo that failed are a failure", () => {
  const summary = { tasks: [{ taskId: 'a#test', task: 'test', cache: { status: 'MISS' } }] };

  expect(packageResult(suite(3, 0), { code: 0, summary })).toMatchObject({
    passed: 3,
    failed: 0,
    cached: false,
  });
  expect(packageResult(suite(3, 0), { code: 1, summary })).toMatchObject({ passed: 3, failed: 1 });
  expect(packageResult(suite(3, 1), { code: 1, summary })).toMatchObject({ passed: 3, failed: 1 });
});

test('a package whose tests turbo replayed is marked as cached', () => {
  const summary = { tasks: [{ taskId: 'a#test', task: 'test', cache: { status: 'HIT' } }] };

  expect(packageResult(suite(3, 0), { code: 0, summary })).toMatchObject({ passed: 3, cached: true });
});

test('every folder in the budget has code, and its lines are printed beside its budget', async () => {
  const lines = await lineBudget(root);

  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(line).toMatch(/^ *[1-9]\d* of +[1-9]\d* lines {2}\S+$/);
});

test('the budget is the table of folders and lines', () => {
  const page = '| Not here | Why |\n| `a` | because |\n\n| Folder | Lines |\n| `apps/a` | 120   |\n';

  expect(budgets(page)).toEqual([{ folder: 'apps/a', lines: 120 }]);
});
