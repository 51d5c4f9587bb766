import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { engineFolder, setUpPythonEngine } from '../lib/python-engine.mjs';
import { findSystemYtDlp } from '../lib/python-interpreters.mjs';
import { UserError } from '../lib/user-error.mjs';

let root;
/** An "interpreter" that imports this yt-dlp. */
const fakePython = async (file, version) => {
  await writeFile(file, `#!/bin/sh\necho ${version}\n`);
  await chmod(file, 0o755);
  return file;
};

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'engine-'));
  await mkdir(join(root, engineFolder), { recursive: true });
  await writeFile(join(root, engineFolder, 'requirements.txt'), '# comment\nyt-dlp==1 --hash=sha256:0\n');
});
after(() => rm(root, { recursive: true }));

test('YTDLP_PYTHON is used as it is, and explained where it is wrong', async () => {
  const python = await fakePython(join(root, 'python'), '2026.01.31');
  const engine = await setUpPythonEngine({ root, env: { YTDLP_PYTHON: python } });
  assert.deepEqual(engine, { python, ytDlpVersion: '2026.01.31', source: 'configured' });
  await assert.rejects(setUpPythonEngine({ root, env: { YTDLP_PYTHON: '/no/python' } }), (error) => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, /YTDLP_PYTHON is \/no\/python/);
    return true;
  });
});

test(
  "with PyPI out of reach the system's yt-dlp is taken, and remembered",
  { skip: findSystemYtDlp() === undefined && 'this system has no yt-dlp package' },
  async () => {
    const lines = [];
    const unreachable = { PIP_INDEX_URL: 'http://127.0.0.1:9/simple', PIP_NO_INDEX: '', PIP_FIND_LINKS: '' };
    const env = { ...process.env, YTDLP_PYTHON: '', ...unreachable };
    const options = { root, env, log: (line) => lines.push(line) };
    const engine = await setUpPythonEngine(options);
    assert.deepEqual(engine, { ...findSystemYtDlp(), source: 'system' });
    assert.ok(lines.some((line) => line.includes('cannot be installed from PyPI')));

    const record = JSON.parse(await readFile(join(root, engineFolder, '.venv', 'engine.json'), 'utf8'));
    assert.equal(record.python, engine.python);
    lines.length = 0;
    assert.deepEqual(await setUpPythonEngine(options), engine);
    assert.deepEqual(lines, [], 'the second time nothing is tried');
  },
);
