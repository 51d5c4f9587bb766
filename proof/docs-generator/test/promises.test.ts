import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
