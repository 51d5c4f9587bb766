import { spawnSync } from 'node:child_process';
import { root } from './support/stack.js';

function doctor(settings: Readonly<Record<string, string>>): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/doctor.mjs'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...settings },
  });
  return { status, output: stdout + stderr };
}

const about = (output: string, name: string) =>
  output.split('\n').filter((line) => line.includes(`${name} must`) || line.includes(`${name} is`));

it('npm run doctor reports every problem of all settings once', () => {
  const { status, output } = doctor({
    PORT: 'many',
    STREAMS_PER_CLIENT: '-1',
    BASE_PATH: 'media/',
    STREAMS_MAX: 'many',
    REDIS_URL: 'http://redis',
  });

  expect(status).toBe(1);
  for (const name of ['PORT', 'STREAMS_PER_CLIENT', 'BASE_PATH', 'STREAMS_MAX', 'REDIS_URL']) {
    expect(about(output, name)).toHaveLength(1);
  }
  expect(output).toContain('5 to correct');
  expect(output).not.toContain('    at ');
});

it('npm run doctor reports each mistyped setting once, and no setting of another service', () => {
  const { status, output } = doctor({
    API_KEY_FILE: 'keys',
    STREAM_MAX: '3',
    PAGE_MAX_BYTES: '1MiB',
  });

  expect(output).toContain('Did you mean API_KEYS_FILE?');
  expect(output).toContain('Did you mean STREAMS_MAX?');
  for (const name of ['API_KEY_FILE', 'STREAM_MAX']) {
    expect(about(output, name)).toHaveLength(1);
  }
  expect(output).not.toContain('PAGE_MAX_BYTES');
  expect(status).toBe(0);
});

it('npm run doctor reports a model that is unknown or not installed', () => {
  expect(doctor({ MODEL: 'u3net' }).output).toContain('MODEL "u3net" is not known');
  expect(doctor({ MODELS_DIR: '/nowhere' }).output).toContain('isnet-general-use is not in /nowhere');
});

it('npm run doctor reports valid settings', () => {
  const { output } = doctor({ BASE_PATH: '/media', PORT: '8080' });

  expect(output).toContain('valid for the gateway and both services');
});
