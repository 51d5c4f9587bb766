// Part of the build: writes what the gateway serves or loads and what isn't in git.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { generatedFiles } from './generated-files.js';

const gateway = fileURLToPath(new URL('..', import.meta.url));

for (const [path, text] of await generatedFiles(join(gateway, '..'))) {
  const file = join(gateway, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

// One file without imports, because QuickJS runs it in the container.
await build({
  entryPoints: [join(gateway, 'dist/settings/main.js')],
  outfile: join(gateway, 'settings.js'),
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2023',
});
