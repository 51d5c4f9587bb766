/** npm run verify:workflows: checks .github, and that every command of the project that a step runs is there. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '@media-services/stack/set-up';
import { z } from 'zod';
import { Report } from './report.js';
import { run } from './run.js';
import { goTool, pythonTool } from './tools.js';

const folder = join(root, '.github', 'workflows');
const report = new Report();

await report.check('actionlint finds nothing', async () => {
  await run(await goTool('github.com/rhysd/actionlint/cmd/actionlint', 'v1.7.7'), []);
});
await report.check('zizmor finds nothing', async () => {
  await run(await pythonTool('zizmor', '1.32.0'), ['--offline', '--quiet', '.github']);
});
await report.check('the programs of the project that steps run are there', async () => {
  const programs = await mentioned(/\b(?:scripts|deploy\/images)\/[a-z-]+/g);
  const missing = programs.filter((file) => !existsSync(join(root, file)));
  assert.deepEqual(missing, []);
  return programs.join(', ');
});
await report.check('the scripts of package.json that steps run are there', async () => {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(manifest);
  const names = (await mentioned(/\bnpm run [a-z:-]+/g)).map((command) => command.replace('npm run ', ''));
  assert.deepEqual(
    names.filter((name) => !(name in scripts)),
    [],
  );
  return names.join(', ');
});
report.end();

/** What a pattern finds in all workflows, once each; never nothing. */
async function mentioned(pattern: RegExp): Promise<string[]> {
  const found = new Set<string>();
  for (const file of await readdir(folder)) {
    const text = await readFile(join(folder, file), 'utf8');
    for (const each of text.match(pattern) ?? []) found.add(each);
  }
  assert.ok(found.size > 0, 'the workflows run nothing of the project');
  return [...found].sort();
}
