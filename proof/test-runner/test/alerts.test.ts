import { join } from 'node:path';
import { root } from '@media-services/stack/set-up';
import { execa } from 'execa';

const folder = join(root, 'deploy', 'prometheus');

test('the alert rules fire when they should, and only then', async () => {
  const { all, exitCode } = await execa('promtool', ['test', 'rules', 'alerts.test.yml'], {
    cwd: folder,
    all: true,
    reject: false,
  });

  expect({ exitCode, all }).toEqual({ exitCode: 0, all: expect.stringContaining('SUCCESS') as string });
});

test('the configuration of Prometheus is valid', async () => {
  const { all, exitCode } = await execa('promtool', ['check', 'config', '--syntax-only', 'prometheus.yml'], {
    cwd: folder,
    all: true,
    reject: false,
  });

  expect({ exitCode, all }).toMatchObject({ exitCode: 0 });
});
