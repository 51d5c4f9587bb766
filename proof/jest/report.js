import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const lingerMs = 30_000;

/**
 * Writes what `npm test` counts into the package's test-results, where turbo caches it, and
 * ends a jest that something started by its tests keeps running.
 * @implements {Pick<import('@jest/reporters').Reporter, 'onRunComplete'>}
 */
export default class Report {
  /** @param {import('@jest/reporters').Config.GlobalConfig} config */
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  /**
   * @param {unknown} _contexts
   * @param {import('@jest/reporters').AggregatedResult} results
   */
  onRunComplete(_contexts, results) {
    this.#write(results, false);
    const hung = () => {
      process.stderr.write('The tests are over, but something they started keeps jest running.\n');
      this.#write(results, true);
      process.exit(1);
    };
    setTimeout(hung, lingerMs).unref();
  }

  /**
   * @param {import('@jest/reporters').AggregatedResult} results
   * @param {boolean} hung
   */
  #write(results, hung) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = results;
    const testResults = results.testResults.map((file) => ({
      file: relative(this.rootDir, file.testFilePath),
      broken: file.testExecError?.message.trim().split('\n')[0],
      seconds: file.perfStats.runtime / 1000,
      failures: file.testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
      retried: file.testResults
        .filter(({ status, invocations = 1 }) => status === 'passed' && invocations > 1)
        .map(({ fullName }) => fullName),
    }));
    const report = { numPassedTests, numFailedTests, numPendingTests, numTodoTests, hung, testResults };
    const folder = join(this.rootDir, 'test-results');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'report.json'), JSON.stringify(report));
  }
}
