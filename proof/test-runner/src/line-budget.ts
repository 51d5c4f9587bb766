import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';

const isCode = /\.(?:ts|js|mjs|py|sh|html|template)$/;
const isNoProduct = /\/tests?\/|\/languages\//;
const setting = /^\| `[A-Z]/gm;

/** Present figures beside the budget in `docs/internals/scope.md`; one line of text each. */
export async function lineBudget(root: string): Promise<string[]> {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const { stdout } = await execa('git', ['ls-files'], { cwd: root });
  const files = stdout.split('\n').filter((file) => existsSync(join(root, file)));
  const present = (name: string): number => {
    if (name === 'Files outside proof') return files.filter((file) => !file.startsWith('proof/')).length;
    if (name === 'Settings') return read('docs/configuration.md').match(setting)?.length ?? 0;
    // The budget of `proof` includes its tests: they are all it has.
    const isCounted = (file: string) =>
      file.startsWith(`${name}/`) && isCode.test(file) && (name === 'proof' || !isNoProduct.test(file));
    return files.filter(isCounted).reduce((total, file) => total + read(file).split('\n').length - 1, 0);
  };
  return read('docs/internals/scope.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .filter(([, , budget = '']) => /^\d+$/.test(budget))
    .map(
      ([, name = '', budget = '']) =>
        `${String(present(name)).padStart(7)} of ${budget.padStart(5)}  ${name}`,
    );
}
