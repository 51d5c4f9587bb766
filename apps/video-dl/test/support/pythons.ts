import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { locatePython } from '../../src/extract/engine.js';

/** A Python interpreter to test with. */
export interface Interpreter {
  readonly python: string;
  readonly ytDlp: string;
}

export const fixtureEngine = fileURLToPath(new URL('../engine/support/fixture_engine.py', import.meta.url));

/**
 * The interpreters to test with: the configured or pinned one. In nightly runs also the
 * system's, if it has a different yt-dlp (Debian's is from 2023).
 */
export async function interpreters(): Promise<Interpreter[]> {
  const chosen = await locatePython(process.env['YTDLP_PYTHON'] ?? '');
  const found: Interpreter[] = [];
  const others = atNight(['/usr/bin/python3']);
  for (const python of new Set([chosen, ...others])) {
    const ytDlp = await version(python);
    if (ytDlp !== undefined && !found.some((other) => other.ytDlp === ytDlp)) found.push({ python, ytDlp });
  }
  if (found.length === 0) throw new Error('no Python here can import yt_dlp; run `npm run setup`');
  return found;
}

async function version(python: string): Promise<string | undefined> {
  try {
    // Importing yt-dlp would take longer than most tests.
    const program =
      'from importlib.util import find_spec; print(find_spec("yt_dlp").submodule_search_locations[0])';
    const { stdout } = await promisify(execFile)(python, ['-c', program]);
    const source = await readFile(join(stdout.trim(), 'version.py'), 'utf8');
    return /^__version__ = '(.+)'$/mu.exec(source)?.[1];
  } catch {
    // This interpreter has no yt-dlp.
    return undefined;
  }
}
