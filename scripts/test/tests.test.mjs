import assert from 'node:assert/strict';
import { test } from 'node:test';
import { root } from '../lib/project.mjs';
import { jestPackages, jestResult } from '../lib/tests/jest-suite.mjs';
import { unittestResult } from '../lib/tests/python-suite.mjs';
import { crashed, summaryLines, totalLine } from '../lib/tests/suite-result.mjs';

test('every package of the workspace that has tests is run, shared ones first', () => {
  const names = jestPackages(root).map(({ name }) => name);
  for (const name of ['packages/http-common', 'apps/video-dl', 'apps/bg-removal', 'nginx'])
    assert.ok(names.includes(name), name);
  assert.match(names[0], /^packages\//);
});

const suite = (passed, failed, skipped = 0) => ({ name: 'a', passed, failed, skipped, failures: [] });

test('the last line counts over all suites, and names skipped only where there are some', () => {
  assert.equal(totalLine([suite(3, 0), suite(4, 1)]), '7 passed, 1 failed');
  assert.equal(totalLine([suite(3, 0, 2)]), '3 passed, 0 failed, 2 skipped');
});

test('a runner that crashed is a failure, beside what it had found', () => {
  const result = crashed('a', 'no result', suite(3, 1));
  assert.deepEqual([result.passed, result.failed, result.failures], [3, 2, ['no result']]);
});

test('every failure is listed under its suite', () => {
  const lines = summaryLines([suite(1, 0), { ...suite(0, 1), name: 'b', failures: ['does not work'] }]);
  assert.ok(lines.includes('✗ b › does not work'));
});

test('a test file that jest cannot even load is a failure', () => {
  const report = {
    numPassedTests: 2,
    numFailedTests: 1,
    numPendingTests: 0,
    numTodoTests: 1,
    testResults: [
      {
        name: '/x/test/a.test.ts',
        status: 'failed',
        message: '',
        assertionResults: [{ status: 'failed', fullName: 'a fails' }],
      },
      { name: '/x/test/b.test.ts', status: 'failed', message: 'SyntaxError: no\nmore', assertionResults: [] },
    ],
  };
  assert.deepEqual(jestResult('x', report), {
    name: 'x',
    passed: 2,
    failed: 2,
    skipped: 1,
    failures: ['a fails', 'b.test.ts: SyntaxError: no'],
  });
});

test("unittest's closing lines are understood", () => {
  assert.equal(unittestResult('Traceback …'), undefined);
  const { passed, failed, skipped } = unittestResult(
    'ERROR: test_a (x)\n\nRan 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)\n',
  );
  assert.deepEqual([passed, failed, skipped], [5, 3, 1]);
  assert.equal(unittestResult('Ran 1 test in 0.1s\n\nOK\n').passed, 1);
});
