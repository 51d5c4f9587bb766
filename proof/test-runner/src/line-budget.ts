import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';

const isCode = /\.(?:ts|js|mjs|py|sh|html|template)$/;
const isNoProduct = /\/tests?\/|\/languages\//;

/** Lines of code per folder beside its budget in `docs/internals/scope.md`; one line of text each. */
export async function lineBudget(root: string): Promise<string[]> {
  const { stdout } = await execa('git', ['ls-files'], { cwd: root });
  const files = stdout.split('\n').filter((file) => isCode.test(file) && existsSync(join(root, file)));
  return budgets(readFileSync(join(root, 'docs', 'internals', 'scope.md'), 'utf8')).map(
    ({ folder, lines }) => {
      // The budget of `proof` includes its tests: they are all it has.
      const counted = files.filter(
        (file) => file.startsWith(`${folder}/`) && (folder === 'proof' || !isNoProduct.test(file)),
      );
      const present = counted.reduce((total, file) => total + linesOf(join(root, file)), 0);
      return `${String(present).padStart(7)} of ${String(lines).padStart(5)} lines  ${folder}`;
    },
  );
}

/** The rows of the budget's table. */
function budgets(page: string): { readonly folder: string; readonly lines: number }[] {
  return [...page.matchAll(/^\| `([^`]+)`\s+\| (\d+)\s+\|$/gm)].map(([, folder = '', lines]) => ({
    folder,
    lines: Number(lines),
  }));
}

function linesOf(file: string): number {
  return readFileSync(file, 'utf8').split('\n').length - 1;
}
