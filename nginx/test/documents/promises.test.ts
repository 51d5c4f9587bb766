import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The tests that a page names, as paths; the last part may contain `*`. */
function testsNamedIn(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const paths = [...text.matchAll(/`((?:apps|packages|nginx|proof)\/[^`\s]+)`/g)].map(
    ([, path = '']) => path,
  );
  return [...new Set(paths)];
}

function exists(path: string): boolean {
  if (!path.includes('*')) return existsSync(join(root, path));
  const [before = '', after = ''] = basename(path).split('*');
  const folder = join(root, dirname(path));
  return (
    existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(before) && name.endsWith(after))
  );
}

it.each([
  ['SECURITY.md', 20],
  ['docs/internals/promises.md', 30],
])('every test that %s names exists', (page, atLeast) => {
  const named = testsNamedIn(page);
  expect(named.length).toBeGreaterThanOrEqual(atLeast);
  expect(named.filter((path) => !exists(path))).toEqual([]);
});

/** The rows of a table of architecture.md: files, below `folder`, a package or the file before, and names in them. */
function stepsOf(section: string): { files: string[]; names: string[] }[] {
  const folder = /are below `([^`]+)`/.exec(section)?.[1] ?? '';
  return [...section.matchAll(/^\|[^|]+\|([^|]+)\|([^|]*)\|$/gm)].map(([, paths = '', functions = '']) => {
    const files: string[] = [];
    for (const path of wordsIn(paths)) {
      const folders = [dirname(files.at(-1) ?? folder), folder, dirname(folder), 'packages'];
      files.push(
        folders.map((each) => join(each, path)).find((file) => existsSync(join(root, file))) ?? path,
      );
    }
    return { files, names: wordsIn(functions).flatMap((name) => name.split('.')) };
  });
}

function wordsIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

it('every file and function on the paths in docs/architecture.md exists', () => {
  const sections = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split('\n## ');
  const steps = sections.filter((section) => section.startsWith('The path of')).flatMap(stepsOf);
  expect(steps.length).toBeGreaterThanOrEqual(25);
  const missing = steps.flatMap(({ files, names }) => {
    const code = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
  });
  expect(missing).toEqual([]);
});

const roomsWithReadme = ['apps', 'packages']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
  .filter((room) => readFileSync(join(root, room, 'README.md'), 'utf8').includes('May import:'));

it.each(roomsWithReadme)('%s/README.md names the packages that it imports', (room) => {
  const readme = readFileSync(join(root, room, 'README.md'), 'utf8');
  const manifest = z
    .object({ dependencies: z.record(z.string(), z.string()).default({}) })
    .parse(JSON.parse(readFileSync(join(root, room, 'package.json'), 'utf8')));
  const imported = Object.keys(manifest.dependencies).filter((name) => name.startsWith('@media-services/'));
  const named = wordsIn(/May import:[^.]*/.exec(readme)?.[0] ?? '');
  expect(named.toSorted()).toEqual(imported.map((name) => basename(name)).toSorted());
});
