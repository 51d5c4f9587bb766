// pnpm --filter @media-services/e2e fuzz: schemathesis against both services, from their
// OpenAPI documents. Installs it from PyPI into .tools; needs what `npm run setup` installs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { logsDir, root, toolsDir } from '../scripts/lib/project.mjs';
import { freePort } from '../scripts/lib/stack/ports.mjs';
import { startStack } from '../scripts/lib/stack/stack.mjs';

const version = '4.32.5';
const venv = join(toolsDir, `schemathesis-${version}`);
const schemathesis = join(venv, 'bin', 'schemathesis');

function run(file, args) {
  const { status, error } = spawnSync(file, args, { stdio: 'inherit', cwd: toolsDir });
  if (error) throw error;
  return status === 0;
}

function install() {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`];
  return run('python3', ['-m', 'venv', venv]) && run(join(venv, 'bin', 'python'), pip);
}

if (!existsSync(schemathesis) && !install())
  throw new Error('schemathesis could not be installed from PyPI.');

const stack = await startStack({
  port: await freePort(),
  freeServicePorts: true,
  // Straight to the services and without their limit: this is about the answers.
  env: { ...process.env, IMAGES_PER_MINUTE: '0' },
  logsDir: join(logsDir, 'fuzz'),
});
try {
  await stack.healthy();
  const targets = [
    ['video-dl', stack.ports.videoDl],
    ['bg-removal', stack.ports.bgRemoval],
  ];
  const clean = targets.map(([service, port]) =>
    run(schemathesis, [
      ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
      ...['run', join(root, 'nginx/html/docs', `${service}.openapi.json`)],
      ...['--url', `http://127.0.0.1:${port}`, '--phases', 'examples,coverage,fuzzing'],
      ...['--checks', 'all', '--max-response-time', '120'],
      ...[
        '--max-examples',
        process.env.EXAMPLES || '50',
        '--request-timeout',
        '120',
        '--continue-on-failure',
      ],
    ]),
  );
  process.exitCode = clean.every(Boolean) ? 0 : 1;
} finally {
  await stack.stop();
}
