import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  logsDir,
  Progress,
  root,
  runScript,
  setUp,
  toolsDir,
  UserError,
} from '../../packages/stack/src/set-up/index.mjs';

const usage = `npm run proof -- fuzz
Runs schemathesis against both services, from the OpenAPI document, in about three minutes.
Installs it from PyPI into .tools.
  EXAMPLES  examples per case (50)`;

const version = '4.32.5';
const venv = join(toolsDir, `schemathesis-${version}`);
const schemathesis = join(venv, 'bin', 'schemathesis');

/** @type {(file: string, args: readonly string[]) => boolean} */
function run(file, args) {
  const { status, error } = spawnSync(file, args, { stdio: 'inherit', cwd: toolsDir });
  if (error) throw error;
  return status === 0;
}

function install() {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`];
  return run('python3', ['-m', 'venv', venv]) && run(join(venv, 'bin', 'python'), pip);
}

await runScript({ usage }, async () => {
  const env = await setUp({ progress: new Progress() });
  if (!existsSync(schemathesis) && !install()) {
    throw new UserError('schemathesis could not be installed from PyPI.');
  }
  // Built by set-up.
  const { startStack } = await import('../../packages/stack/dist/index.js');
  const stack = await startStack({
    // Straight to the services and without their limit: this is about the answers.
    env: { ...env, IMAGES_PER_MINUTE: '0' },
    logsDir: join(logsDir, 'fuzz'),
  });
  try {
    await stack.healthy();
    const clean = Object.entries({ Videos: 'video-dl', Images: 'bg-removal' }).map(([tag, service]) =>
      run(schemathesis, [
        ...['--config-file', join(root, 'proof', 'e2e', 'schemathesis.toml')],
        ...['run', join(root, 'nginx/html/docs/openapi.json'), '--include-tag', tag],
        ...['--url', stack.urlOf(service), '--phases', 'examples,coverage,fuzzing'],
        ...['--checks', 'all', '--max-response-time', '120', '--request-timeout', '120'],
        ...['--max-examples', process.env.EXAMPLES || '50', '--continue-on-failure'],
      ]),
    );
    return clean.every(Boolean) ? 0 : 1;
  } finally {
    await stack.stop();
  }
});
