import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineFolder, setUpPythonEngine } from '../src/set-up/python/python-engine.mjs';
import { findSystemYtDlp } from '../src/set-up/python/python-interpreters.mjs';
import { UserError } from '../src/set-up/user-error.mjs';
import { fakeProgram, scratch } from './support/scratch.js';

function checkout(): string {
  const root = scratch();
  mkdirSync(join(root, engineFolder), { recursive: true });
  writeFileSync(join(root, engineFolder, 'requirements.txt'), '# comment\nyt-dlp==1 --hash=sha256:0\n');
  return root;
}

test('uses YTDLP_PYTHON unchanged', async () => {
  const root = checkout();
  const python = fakeProgram(root, 'python', 'echo 2026.01.31');

  const engine = await setUpPythonEngine({ root, env: { YTDLP_PYTHON: python } });

  expect(engine).toEqual({ python, ytDlpVersion: '2026.01.31', source: 'configured' });
});

test('a YTDLP_PYTHON that cannot import yt-dlp is explained', async () => {
  const setting = setUpPythonEngine({ root: checkout(), env: { YTDLP_PYTHON: '/no/python' } });

  await expect(setting).rejects.toThrow(UserError);
  await expect(setting).rejects.toThrow(/YTDLP_PYTHON is \/no\/python/);
});

const systemTest = findSystemYtDlp() === undefined ? test.skip : test;

systemTest("uses and remembers the system's yt-dlp if PyPI is unreachable", async () => {
  const root = checkout();
  const lines: string[] = [];
  const unreachable = { PIP_INDEX_URL: 'http://127.0.0.1:9/simple', PIP_NO_INDEX: '', PIP_FIND_LINKS: '' };
  const options = {
    root,
    env: { ...process.env, YTDLP_PYTHON: '', ...unreachable },
    log: (line: string) => void lines.push(line),
  };

  const engine = await setUpPythonEngine(options);

  expect(engine).toEqual({ ...findSystemYtDlp(), source: 'system' });
  expect(lines.join('\n')).toContain('cannot be installed from PyPI');
  const record: unknown = JSON.parse(readFileSync(join(root, engineFolder, '.venv', 'engine.json'), 'utf8'));
  expect(record).toMatchObject({ python: engine.python });

  lines.length = 0;
  await expect(setUpPythonEngine(options)).resolves.toEqual(engine);
  expect(lines).toEqual([]);
});
