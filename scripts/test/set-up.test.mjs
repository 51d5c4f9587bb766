import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findExecutable } from '../lib/executables.mjs';
import { root } from '../lib/project.mjs';
import { dependenciesAreCurrent, dependenciesHash } from '../lib/set-up/dependencies.mjs';
import { checkNodeVersion, isAtLeast } from '../lib/set-up/node-version.mjs';
import { pinnedPnpmVersion } from '../lib/set-up/pnpm.mjs';
import { installSystemTools } from '../lib/set-up/system-packages.mjs';

function scratch(context) {
  const folder = mkdtempSync(join(tmpdir(), 'set-up-test-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('versions are compared as numbers', () => {
  assert.ok(isAtLeast('20.19.0', '20.19'));
  assert.ok(isAtLeast('24.1.0', '20.19'));
  assert.ok(isAtLeast('20.100.0', '20.19'));
  assert.ok(!isAtLeast('20.9.0', '20.19'));
  assert.ok(!isAtLeast('18.99.9', '20.19'));
});

test('a Node that is too old is told what is needed', () => {
  assert.throws(() => checkNodeVersion(root, '18.0.0'), /Node 18\.0\.0 is too old: 20\.19 or later/);
});

test('the pinned pnpm is the one of package.json', () => {
  assert.match(pinnedPnpmVersion(root), /^\d+\.\d+\.\d+$/);
});

test('dependencies are installed again when the lockfile has changed, only then', (context) => {
  const folder = scratch(context);
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'])
    writeFileSync(join(folder, name), name);
  assert.equal(dependenciesAreCurrent(folder), false);
  writeFileSync(join(folder, 'node_modules', '.set-up-stamp'), dependenciesHash(folder));
  assert.equal(dependenciesAreCurrent(folder), true);
  writeFileSync(join(folder, 'pnpm-lock.yaml'), 'another');
  assert.equal(dependenciesAreCurrent(folder), false);
});

test('a program is found on PATH when it is a file that may be run', (context) => {
  const folder = scratch(context);
  mkdirSync(join(folder, 'tool'));
  const env = { PATH: folder };
  assert.equal(findExecutable('tool', [], env), undefined);
  writeFileSync(join(folder, 'other'), '');
  assert.equal(findExecutable('other', [], env), undefined);
  chmodSync(join(folder, 'other'), 0o755);
  assert.equal(findExecutable('other', [], env), join(folder, 'other'));
});

test('where nothing can install a tool, the message names it and how to get it', async (context) => {
  const path = process.env.PATH;
  context.after(() => (process.env.PATH = path));
  process.env.PATH = scratch(context);
  const tool = {
    name: 'ffmpeg',
    purpose: 'converts media',
    isThere: () => false,
    apt: ['ffmpeg'],
    brew: ['ffmpeg'],
  };
  await assert.rejects(installSystemTools({ tools: [tool], log: () => {} }), (error) => {
    assert.match(error.message, /Missing: ffmpeg \(converts media\)/);
    assert.match(error.message, /apt-get install -y --no-install-recommends ffmpeg/);
    return true;
  });
});

test('what is there is not installed again', async () => {
  const tool = { name: 'x', purpose: '', isThere: () => true, apt: [], brew: [] };
  assert.equal(
    await installSystemTools({ tools: [tool], log: () => assert.fail('nothing to do') }),
    'present',
  );
});
