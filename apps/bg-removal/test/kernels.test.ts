import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

const folder = join(import.meta.dirname, '..');

test('the compiled kernels in data/ are what their sources compile to', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kernels-'));
  try {
    const asc = join(folder, '../../node_modules/.bin/asc');
    const outFile = join(scratch, 'kernels.wasm');
    await execa(asc, ['--config', 'src/kernels/asconfig.json', '--outFile', outFile], { cwd: folder });
    // If this fails: npm run kernels, in apps/bg-removal.
    for (const name of ['kernels.wasm', 'kernels.d.ts']) {
      const built = readFileSync(join(scratch, name));
      expect({ name, isCurrent: built.equals(readFileSync(join(folder, 'data', name))) }).toEqual({
        name,
        isCurrent: true,
      });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
