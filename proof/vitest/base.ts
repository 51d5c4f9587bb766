import { existsSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vite';

/** `npm test -- --nightly` also runs `*.nightly.ts`; `at-night.ts` adds cases. */
const nightly = process.env['TEST_NIGHTLY'] === '1';
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A file of this repository in another of its package's folders: `dist/a.js` for `src/a.ts`. */
function counterpart(file: string, from: string, to: string): string | undefined {
  const isOurs = file.startsWith(root) && !file.includes(`${sep}node_modules${sep}`);
  const [before, after] = file.split(`${sep}${from}${sep}`);
  if (!isOurs || before === undefined || after === undefined) return undefined;
  const other = [before, to, after].join(sep);
  return [other, other.replace(/\.js$/, '.ts')].find(existsSync);
}

/**
 * Tests run the sources, also those of other packages, whose `exports` name their `dist/`. Processes
 * and threads that the code starts can't: Node runs JavaScript alone. They run what is compiled, as
 * do files that only a build makes.
 */
function sources(): Plugin {
  return {
    name: 'sources',
    enforce: 'pre',
    async resolveId(id, importer, options) {
      const found = await this.resolve(id, importer, { ...options, skipSelf: true });
      if (found === null) return null;
      return counterpart(found.id, 'dist', 'src') ?? found;
    },
    transform(code, id) {
      const folder = dirname(id);
      return code.replace(/new URL\('([^']+)', import\.meta\.url\)/g, (whole, path: string) => {
        const file = resolve(folder, path);
        const compiled = existsSync(file) ? undefined : counterpart(file, 'src', 'dist');
        return compiled === undefined ? whole : `new URL(${JSON.stringify(`file://${compiled}`)})`;
      });
    },
  };
}

/**
 * Processes, ports and media are real. `npm test` runs two packages at once. Three workers each keep
 * two cores busy while some tests wait; more than four would need much memory for their networks.
 */
export default defineConfig({
  plugins: [sources()],
  test: {
    globals: true,
    include: ['test/**/*.test.ts', ...(nightly ? ['test/**/*.nightly.ts'] : [])],
    pool: 'forks',
    // Loading the modules for each file anew takes about as long as the tests of the smaller packages.
    isolate: false,
    maxWorkers: Math.min(4, Math.max(3, availableParallelism())),
    // Only a test that hangs takes this long, however slow the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 20_000,
    reporters: ['default', 'json'],
    outputFile: { json: 'test-results/report.json' },
  },
});
