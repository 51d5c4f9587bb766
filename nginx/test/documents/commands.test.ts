import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { packageManager, scripts } = z
  .object({ packageManager: z.string(), scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(`${root}package.json`, 'utf8')));

const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n');

/** What a page says to run, from its code blocks and from the code in its text. */
function codeIn(page: string): string {
  const parts = readFileSync(root + page, 'utf8').split(/^```.*$/m);
  return parts
    .map((part, index) => (index % 2 === 1 ? part : (part.match(/`[^`\n]+`/g) ?? []).join('\n')))
    .join('\n');
}

/** Names of scripts after these words in any page, as `page: name`. */
function named(command: RegExp): { readonly page: string; readonly script: string }[] {
  return pages.flatMap((page) =>
    [...codeIn(page).matchAll(command)].map(([, script = '']) => ({ page, script })),
  );
}

describe('documented commands', () => {
  it('name only scripts that exist', () => {
    const found = named(/\bnpm run ([a-z][\w:-]*)/g);
    expect(found.length).toBeGreaterThan(30);
    expect(found.filter(({ script }) => !(script in scripts))).toEqual([]);
  });

  // Set-up installs pnpm into the checkout, where no PATH leads to.
  it('run scripts of the root with npm, which everyone has', () => {
    expect(named(/\bpnpm (?:run )?([\w:-]+)/g).filter(({ script }) => script in scripts)).toEqual([]);
  });

  it('find pnpm without PATH', () => {
    const bare = Object.entries(scripts).filter(([, line]) => /(^|&& )(turbo|pnpm) /.test(line));
    expect(bare).toEqual([]);
    const PATH = (process.env.PATH ?? '')
      .split(delimiter)
      .filter((folder) => !/\/pnpm-[\d.]+\//.test(folder))
      .join(delimiter);
    const line = ['scripts/with-pnpm.mjs', 'pnpm', '--version'];
    const env = { ...process.env, PATH };
    const version = execFileSync(process.execPath, line, { cwd: root, env, encoding: 'utf8' });
    expect(packageManager).toBe(`pnpm@${version.trim()}`);
  });
});
