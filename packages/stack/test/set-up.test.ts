import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable } from '../src/set-up/executables.mjs';
import { dependenciesAreCurrent, dependenciesHash } from '../src/set-up/node/dependencies.mjs';
import { checkNodeVersion, isAtLeast } from '../src/set-up/node/node-version.mjs';
import { pinnedPnpmVersion } from '../src/set-up/node/pnpm.mjs';
import { root } from '../src/set-up/project.mjs';
import { readSettings } from '../src/set-up/settings.mjs';
import { installSystemTools } from '../src/set-up/system/system-packages.mjs';
import { scratch } from './support/scratch.js';

test('versions are compared as numbers', () => {
  expect(isAtLeast('20.19.0', '20.19')).toBe(true);
  expect(isAtLeast('24.1.0', '20.19')).toBe(true);
  expect(isAtLeast('20.100.0', '20.19')).toBe(true);
  expect(isAtLeast('20.9.0', '20.19')).toBe(false);
  expect(isAtLeast('18.99.9', '20.19')).toBe(false);
});

test('a Node that is too old is told what is needed', () => {
  expect(() => checkNodeVersion(root, '18.0.0')).toThrow(/Node 18\.0\.0 is too old: 20\.19 or later/);
});

test('the pinned pnpm is the one of package.json', () => {
  expect(pinnedPnpmVersion(root)).toMatch(/^\d+\.\d+\.\d+$/);
});

test('dependencies are installed again when the lockfile has changed, only then', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
    writeFileSync(join(folder, name), name);
  }
  expect(dependenciesAreCurrent(folder)).toBe(false);
  writeFileSync(join(folder, 'node_modules', '.set-up-stamp-run'), dependenciesHash(folder));
  expect(dependenciesAreCurrent(folder)).toBe(true);
  expect(dependenciesAreCurrent(folder, 'all')).toBe(false);
  writeFileSync(join(folder, 'node_modules', '.set-up-stamp-all'), dependenciesHash(folder));
  expect(dependenciesAreCurrent(folder, 'all')).toBe(true);
  writeFileSync(join(folder, 'pnpm-lock.yaml'), 'another');
  expect(dependenciesAreCurrent(folder)).toBe(false);
});

test('a program is found on PATH when it is a file that may be run', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'tool'));
  const env = { PATH: folder };
  expect(findExecutable('tool', [], env)).toBeUndefined();
  writeFileSync(join(folder, 'other'), '');
  expect(findExecutable('other', [], env)).toBeUndefined();
  chmodSync(join(folder, 'other'), 0o755);
  expect(findExecutable('other', [], env)).toBe(join(folder, 'other'));
});

test('where nothing can install a tool, the message names it and how to get it', async () => {
  const tool = {
    name: 'ffmpeg',
    purpose: 'converts media',
    isThere: () => false,
    apt: ['ffmpeg'],
    brew: ['ffmpeg'],
  };

  const installing = installSystemTools({ tools: [tool], log: () => undefined, env: { PATH: scratch() } });

  await expect(installing).rejects.toThrow(/Missing: ffmpeg \(converts media\)/);
  await expect(installing).rejects.toThrow(/apt-get install -y --no-install-recommends ffmpeg/);
});

test('what is there is not installed again', async () => {
  const tool = { name: 'x', purpose: '', isThere: () => true, apt: [], brew: [] };
  const lines: string[] = [];

  const installing = installSystemTools({ tools: [tool], log: (line) => void lines.push(line) });

  await expect(installing).resolves.toBe('present');
  expect(lines).toEqual([]);
});

test('settings come from .env, the environment goes before', () => {
  const folder = scratch();
  writeFileSync(join(folder, '.env'), "# comment\nPORT=9000\nHOST='0.0.0.0'\nIMAGE_MAX_BYTES=\n");
  const env: NodeJS.ProcessEnv = { HOST: '127.0.0.1' };

  readSettings(folder, env);

  expect(env).toEqual({ HOST: '127.0.0.1', PORT: '9000', IMAGE_MAX_BYTES: '' });
});

test('no .env is no problem', () => {
  const env: NodeJS.ProcessEnv = {};

  readSettings(scratch(), env);

  expect(env).toEqual({});
});
