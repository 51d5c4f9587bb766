import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { scratch } from '../../../packages/stack/test/support/scratch.js';

// Proves that the checks of `npm test` can fail: feeds each a violation, then the corrected
// version.

const tool = (name: string) => join(root, 'node_modules', '.bin', name);

/** A repository with these files and this repository's check configuration. */
function repository(files: Readonly<Record<string, string>>): string {
  const folder = scratch();
  for (const config of [
    'tsconfig.base.json',
    '.dependency-cruiser.js',
    'knip.config.js',
    '.prettierrc.json',
  ]) {
    cpSync(join(root, config), join(folder, config));
  }
  const all = {
    'package.json': '{ "name": "repository", "private": true, "type": "module" }\n',
    'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function run(cwd: string, name: string, args: readonly string[], input = '') {
  const { exitCode, all } = await execa(tool(name), args, { cwd, input, reject: false, all: true });
  return { failed: exitCode !== 0, output: all };
}

const imports = (files: Readonly<Record<string, string>>, ...rooms: string[]) =>
  run(repository(files), 'depcruise', [...rooms, '--config', '.dependency-cruiser.js']);

describe('the format', () => {
  const check = (text: string) => run(repository({ 'a.ts': text }), 'prettier', ['--check', 'a.ts']);

  test('an unformatted file is found', async () => {
    expect(await check("export const a = 'a';\n")).toMatchObject({ failed: false });
    expect(await check('export  const a = "a"\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('a.ts') as string,
    });
  });
});

describe('imports', () => {
  const one = "import './two.js';\nexport const one = 1;\n";

  test('a cycle is found', async () => {
    const files = { 'packages/a/src/one.ts': one, 'packages/a/src/two.ts': 'export const two = 2;\n' };
    expect(await imports(files, 'packages')).toMatchObject({ failed: false });

    const circle = { ...files, 'packages/a/src/two.ts': "import './one.js';\n" };
    expect(await imports(circle, 'packages')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-circles') as string,
    });
  });

  test.each([
    ['upstream that imports relay', 'apps/video-dl/src/upstream/a.ts', '../relay/b.js', 'video-dl-upstream'],
    ['stream that imports api', 'apps/video-dl/src/stream/a.ts', '../api/b.js', 'video-dl-stream'],
    [
      'a package that imports an app',
      'packages/a/src/a.ts',
      '../../../apps/b/src/b.js',
      'packages-know-no-apps',
    ],
    ['an app that imports another', 'apps/a/src/a.ts', '../../b/src/b.js', 'apps-know-no-apps'],
    [
      "an app's test support used elsewhere",
      'nginx/test/a.ts',
      '../../apps/b/test/b.js',
      'test-support-stays-home',
    ],
    [
      'shipped code that imports proof/',
      'packages/a/src/a.ts',
      '../../../proof/b/src/b.js',
      'nothing-shipped-imports-proof',
    ],
    ['source that imports a test', 'packages/a/src/a.ts', '../test/b.js', 'source-knows-no-tests'],
  ])('%s is found', async (_what, from, to, rule) => {
    const target = join(dirname(from), to).replace(/\.js$/, '.ts');
    const files = { [from]: `import '${to}';\n`, [target]: 'export const b = 2;\n' };

    const rooms = [...new Set([from, target].map((file) => file.split('/')[0] ?? ''))];

    expect(await imports(files, ...rooms)).toMatchObject({
      failed: true,
      output: expect.stringContaining(rule) as string,
    });
  });
});

describe('dead code', () => {
  const files = {
    'packages/a/package.json': '{ "name": "a", "type": "module", "exports": "./src/index.ts" }\n',
    'packages/a/src/index.ts': "export { used } from './parts.js';\n",
    'packages/a/src/parts.ts': 'export const used = 1;\n',
  };
  const unused = (more: Readonly<Record<string, string>>) =>
    run(repository({ ...files, ...more }), 'knip', [
      ...['--no-config-hints', '--workspace', 'packages/a', '--include', 'files,exports,dependencies'],
    ]);

  test('an unused export, file or dependency is found', async () => {
    expect(await unused({})).toMatchObject({ failed: false });

    expect(
      await unused({ 'packages/a/src/parts.ts': 'export const used = 1;\nexport const dead = 2;\n' }),
    ).toMatchObject({ failed: true, output: expect.stringContaining('dead') as string });
    expect(await unused({ 'packages/a/src/alone.ts': 'export const alone = 1;\n' })).toMatchObject({
      failed: true,
      output: expect.stringContaining('alone.ts') as string,
    });
    const withDependency = files['packages/a/package.json'].replace(
      ' }',
      ', "dependencies": { "express": "5" } }',
    );
    expect(await unused({ 'packages/a/package.json': withDependency })).toMatchObject({
      failed: true,
      output: expect.stringContaining('express') as string,
    });
  });
});

describe('patterns', () => {
  const lint = (text: string) =>
    run(root, 'eslint', ['--stdin', '--stdin-filename', 'scripts/pattern.mjs'], text);

  test('one that takes quadratic or exponential time is found', async () => {
    expect(await lint('export const a = /^[a-z]+=/;\n')).toMatchObject({ failed: false });
    expect(await lint('export const a = /[a-z]+=/;\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-super-linear-move') as string,
    });
    expect(await lint('export const a = /^(?:a+)+$/;\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-super-linear-backtracking') as string,
    });
    expect(await lint('export const a = /^(?:a|a)+$/;\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-dupe-disjunctions') as string,
    });
  });
});
