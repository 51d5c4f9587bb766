// npm test: set-up, build, then every test of every package. The last line says
// `N passed, N failed`. `npm test -- nginx apps/video-dl` runs only what is named.
import { join } from 'node:path';
import { Progress } from './lib/progress.mjs';
import { root, toolsDir } from './lib/project.mjs';
import { setUpPythonEngine } from './lib/python-engine.mjs';
import { setUp } from './lib/set-up/set-up.mjs';
import { runCodeChecks } from './lib/tests/code-checks.mjs';
import { jestPackages, runJestSuite } from './lib/tests/jest-suite.mjs';
import { runPythonSuite } from './lib/tests/python-suite.mjs';
import { runScriptSuite } from './lib/tests/script-suite.mjs';
import { summaryLines, totalLine } from './lib/tests/suite-result.mjs';
import { runCommandLine } from './lib/user-error.mjs';

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const only = process.argv.slice(2);
const wanted = (name) => only.length === 0 || only.includes(name);

await runCommandLine(async () => {
  const progress = new Progress();
  const env = await setUp({ progress, forTests: true });
  const results = [];
  const add = (result) => result !== undefined && results.push(result);

  if (wanted('checks')) (await runCodeChecks({ root, env, progress })).forEach(add);
  if (wanted('scripts')) add(await progress.step('scripts', () => runScriptSuite({ root, env })));
  if (wanted('engine')) {
    const { python } = await setUpPythonEngine({ root });
    add(await runPythonSuite({ root, env, python }));
  }
  for (const { name, folder } of jestPackages(root).filter((each) => wanted(each.name))) {
    progress.say(`\n── ${name}`);
    add(await runJestSuite({ root, env, resultsDir: join(toolsDir, 'test-results'), name, folder }));
  }

  if (results.length === 0) throw new Error(`There is nothing to test called ${only.join(', ')}.`);
  progress.say(`\n${summaryLines(results).join('\n')}\n\n${totalLine(results)}`);
  return results.some(({ failed }) => failed > 0) ? 1 : 0;
});
