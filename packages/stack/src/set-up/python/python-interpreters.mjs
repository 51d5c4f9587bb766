import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The oldest Python version that the pinned yt-dlp supports. */
export const minimumPython = '3.10';

/** Finds a Python for a virtual environment. `python3` may be older than a numbered one. */
export function findBasePython() {
  const numbered = [14, 13, 12, 11, 10].map((minor) => `python3.${minor}`);
  return ['python3', '/usr/bin/python3', ...numbered].find((python) => {
    const version = ask(python, 'import sys; print(*sys.version_info[:2])');
    const [major = 0, minor = 0] = (version ?? '').split(' ').map(Number);
    return major === 3 && minor >= Number(minimumPython.split('.')[1]);
  });
}

/** Whether {@link findBasePython} finds one that makes environments with pip. Debian's lacks that part. */
export function canMakeVenv() {
  const python = findBasePython();
  return python !== undefined && ask(python, 'import ensurepip, venv') !== undefined;
}

/**
 * Finds a system interpreter with yt-dlp. apt may install for a different Python than `python3`
 * on PATH, and brew gives yt-dlp its own.
 * @returns {{ python: string, ytDlpVersion: string } | undefined}
 */
export function findSystemYtDlp() {
  const brewed = ['/opt/homebrew', '/usr/local', '/home/linuxbrew/.linuxbrew']
    .map((prefix) => join(prefix, 'opt', 'yt-dlp', 'libexec', 'bin', 'python'))
    .filter((python) => existsSync(python));
  for (const python of ['/usr/bin/python3', 'python3', '/usr/local/bin/python3', ...brewed]) {
    const ytDlpVersion = importedYtDlp(python);
    if (ytDlpVersion !== undefined) return { python, ytDlpVersion };
  }
  return undefined;
}

/**
 * The yt-dlp version that an interpreter imports; undefined if it can't.
 * @param {string} python
 */
export function importedYtDlp(python) {
  return ask(python, 'import yt_dlp.version as v; print(v.__version__)');
}

/**
 * The same for a set-up that has worked before, without the second that an import takes.
 * @param {string} python
 */
export function installedYtDlp(python) {
  const program = [
    'import importlib.util, runpy',
    '[folder] = importlib.util.find_spec("yt_dlp").submodule_search_locations',
    'print(runpy.run_path(folder + "/version.py")["__version__"])',
  ];
  return ask(python, program.join('\n'));
}

/**
 * @param {string} python
 * @param {string} program
 */
function ask(python, program) {
  const { status, stdout } = spawnSync(python, ['-c', program], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
