import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
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
    '.oxfmtrc.json',
    '.oxlintrc.json',
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

async function run(cwd: string, name: string, args: readonly string[]) {
  const { exitCode, all } = await execa(tool(name), args, { cwd, reject: false, all: true });
  return { failed: exitCode !== 0, output: all };
}

const imports = (files: Readonly<Record<string, string>>, ...rooms: string[]) =>
  run(repository(files), 'depcruise', [...rooms, '--config', '.dependency-cruiser.js']);

describe('the format', () => {
  const check = (text: string) => run(repository({ 'a.ts': text }), 'oxfmt', ['--check', 'a.ts']);

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

    const cycle = { ...files, 'packages/a/src/two.ts': "import './one.js';\n" };
    expect(await imports(cycle, 'packages')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-cycles') as string,
    });
  });

  test.each([
    ['upstream that imports relay', 'apps/video-dl/src/upstream/a.ts', '../relay/b.js', 'video-dl-upstream'],
    ['deliver that imports api', 'apps/video-dl/src/deliver/a.ts', '../api/b.js', 'video-dl-deliver'],
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

describe('lint', () => {
  const lint = (name: string, text: string) => {
    const folder = repository({
      [name]: text,
      'tsconfig.json': '{ "extends": "./tsconfig.base.json", "include": ["src"] }\n',
    });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    return run(folder, 'oxlint', [name]);
  };

  test('a pattern that takes quadratic or exponential time is found', async () => {
    const inScript = (text: string) => lint('scripts/pattern.mjs', text);
    expect(await inScript('export const a = /^[a-z]+=/;\n')).toMatchObject({ failed: false });
    expect(await inScript('export const a = /[a-z]+=/;\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-super-linear-move') as string,
    });
    expect(await inScript('export const a = /^(?:a+)+$/;\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-super-linear-backtracking') as string,
    });
    expect(await inScript('export const a = /^(?:a|a)+$/;\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-dupe-disjunctions') as string,
    });
  });

  test('what only the types tell is found: a wrong type, a promise that nobody awaits, a value of type any', async () => {
    const later = 'const later = async () => {\n  await Promise.resolve();\n};\n';
    const inSource = (text: string) => lint('src/a.ts', text);
    expect(await inSource(`${later}await later();\n`)).toMatchObject({ failed: false });
    expect(await inSource(`${later}later();\n`)).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-floating-promises') as string,
    });
    expect(await inSource('export const a: string = 1;\n')).toMatchObject({
      failed: true,
      output: expect.stringContaining('TS2322') as string,
    });
    expect(await inSource("export const a: string = JSON.parse('{}');\n")).toMatchObject({
      failed: true,
      output: expect.stringContaining('no-unsafe-assignment') as string,
    });
  });
});
