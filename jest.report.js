import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const lingerMs = 30_000;

/**
 * Writes what `npm test` counts into the folder that TEST_REPORTS_DIR names, and ends a
 * jest that is kept running by what its tests have started.
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
    const folder = process.env.TEST_REPORTS_DIR;
    if (folder === undefined) return;
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = results;
    const testResults = results.testResults.map((file) => ({
      file: relative(this.rootDir, file.testFilePath),
      broken: file.testExecError?.message.trim().split('\n')[0],
      failures: file.testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    }));
    const report = { numPassedTests, numFailedTests, numPendingTests, numTodoTests, hung, testResults };
    mkdirSync(folder, { recursive: true });
    const name = relative(import.meta.dirname, this.rootDir).replaceAll('/', '-');
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(report));
  }
}
