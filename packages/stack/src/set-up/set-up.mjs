import { delimiter, join } from 'node:path';
import { whileLocked } from './lock.mjs';
import { setUpModel } from './model.mjs';
import { root, toolsDir } from './project.mjs';
import { setUpPythonEngine } from './python/python-engine.mjs';
import { UserError } from './user-error.mjs';
import { build } from './node/build.mjs';
import { installDependencies } from './node/dependencies.mjs';
import { checkNodeVersion } from './node/node-version.mjs';
import { ensurePnpm, pinnedPnpmVersion, pnpmFolder } from './node/pnpm.mjs';
import { setUpFfmpeg } from './system/ffmpeg.mjs';
import { announceSystemTools, installSystemTools } from './system/system-packages.mjs';
import { runTools, testTools } from './system/system-tools.mjs';

/**
 * Brings this checkout from whatever is there to ready-to-run; every step is skipped
 * where it has been done.
 * @param {{ progress: import('./progress.mjs').Progress, forTests?: boolean }} options
 * @returns {Promise<NodeJS.ProcessEnv>} the environment for whatever is run next
 */
export async function setUp({ progress, forTests = false }) {
  checkNodeVersion(root);
  await announceSystemTools({ tools: runTools, say: (text) => progress.say(text) });
  return whileLocked(
    join(toolsDir, 'set-up.lock'),
    (text) => progress.say(text),
    () => runSteps(progress, forTests),
  );
}

/**
 * @param {import('./progress.mjs').Progress} progress
 * @param {boolean} forTests
 */
async function runSteps(progress, forTests) {
  await progress.step(
    `pnpm ${pinnedPnpmVersion(root)}`,
    async (log) => void (await ensurePnpm({ root, log })),
  );
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, PATH: [pnpmFolder(root), process.env.PATH].join(delimiter) };
  await progress.step('Dependencies', (log) => installDependencies({ root, env, log }));
  await progress.step('ffmpeg', async (log) => {
    const { source, ...paths } = await setUpFfmpeg({ root, log, env });
    Object.assign(env, paths);
    return source;
  });
  await progress.step('nginx', (log) => installSystemTools({ tools: runTools, log, env }));
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
