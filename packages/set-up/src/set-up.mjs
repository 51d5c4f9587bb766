import { delimiter } from 'node:path';
import { setUpModel } from './model.mjs';
import { root } from './project.mjs';
import { setUpPythonEngine } from './python/python-engine.mjs';
import { UserError } from './user-error.mjs';
import { build } from './node/build.mjs';
import { installDependencies } from './node/dependencies.mjs';
import { checkNodeVersion } from './node/node-version.mjs';
import { ensurePnpm, pinnedPnpmVersion, pnpmFolder } from './node/pnpm.mjs';
import { installSystemTools } from './system/system-packages.mjs';
import { runTools, testTools } from './system/system-tools.mjs';

/**
 * Brings this checkout from whatever is there to ready-to-run; every step is skipped
 * where it has been done.
 * @param {{ progress: import('./progress.mjs').Progress, forTests?: boolean }} options
 * @returns {Promise<NodeJS.ProcessEnv>} the environment for whatever is run next
 */
export async function setUp({ progress, forTests = false }) {
  checkNodeVersion(root);
  await progress.step(
    `pnpm ${pinnedPnpmVersion(root)}`,
    async (log) => void (await ensurePnpm({ root, log })),
  );
  const env = { ...process.env, PATH: [pnpmFolder(root), process.env.PATH].join(delimiter) };
  await progress.step('Dependencies', (log) => installDependencies({ root, env, log }));
  await progress.step('ffmpeg and nginx', (log) => installSystemTools({ tools: runTools, log }));
  if (forTests) await installTestTools(progress);
  await progress.step('Download engine (yt-dlp)', async (log) => {
    const { ytDlpVersion, source } = await setUpPythonEngine({ root, log });
    return `${ytDlpVersion} (${source})`;
  });
  await progress.step('Build', (log) => build({ root, env, log }));
  await progress.step('Model for background removal', (log) => setUpModel({ root, log }));
  return env;
}

/**
 * Without these their own tests fail and say why; all others can still run.
 * @param {import('./progress.mjs').Progress} progress
 */
async function installTestTools(progress) {
  for (const tool of testTools) {
    try {
      await progress.step(tool.name, (log) => installSystemTools({ tools: [tool], log }));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      progress.say(`  ${error.message}`);
    }
  }
}
