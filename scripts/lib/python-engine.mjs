/**
 * Sets up the Python side of the download engine: yt-dlp in a virtual environment
 * of this checkout or, where PyPI cannot be reached, the system's own package.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const engineFolder = 'apps/video-dl/engine';
const minimumPython = [3, 10];
/** How long a set-up that had to fall back waits before it asks PyPI again. */
const retryPyPiAfterMs = 24 * 3600_000;
const pipOptions = [
  '--disable-pip-version-check',
  '--no-input',
  '--no-deps',
  '--require-hashes',
  '--only-binary=:all:',
  // An unreachable index has to show within seconds, not after pip's minutes.
  '--retries=1',
  '--timeout=10',
];

/**
 * @param {{ root: string, log?: (line: string) => void, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ python: string, ytDlpVersion: string, source: 'configured' | 'venv' | 'system' }>}
 * @throws {Error} saying what to install, where no yt-dlp can be had
 */
export async function setUpPythonEngine({ root, log = () => {}, env = process.env }) {
  const context = { root, log, env, venv: join(root, engineFolder, '.venv') };
  if (env.YTDLP_PYTHON) {
    const ytDlpVersion = await importedVersion(env.YTDLP_PYTHON);
    if (!ytDlpVersion) {
      throw new Error(
        `YTDLP_PYTHON is ${env.YTDLP_PYTHON}, which cannot import yt_dlp. Point it at a Python that can, or unset it.`,
      );
    }
    return { python: env.YTDLP_PYTHON, ytDlpVersion, source: 'configured' };
  }

  const requirements = join(root, engineFolder, 'requirements.txt');
  const requirementsHash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const present = await recordedEngine(context, requirementsHash);
  if (present) return present;

  const attempt = await installIntoVenv(context, requirements);
  if (attempt.python) {
    return record(context, { ...attempt, source: 'venv', requirementsHash });
  }
  log(`yt-dlp cannot be installed from PyPI (${attempt.reason}); falling back to the system's package.`);
  const system = (await systemEngine(context)) ?? (await installSystemEngine(context));
  if (!system) {
    throw new Error(
      `The download engine (yt-dlp) is missing. PyPI: ${attempt.reason}. ` +
        'Install the yt-dlp package of your system (Debian, Ubuntu: apt-get install yt-dlp; macOS: brew install yt-dlp) ' +
        'or set YTDLP_PYTHON to a Python interpreter that can import yt_dlp.',
    );
  }
  return record(context, { ...system, source: 'system', requirementsHash });
}

/** The engine that an earlier run has set up, if it is still the right one and still works. */
async function recordedEngine({ venv }, requirementsHash) {
  let recorded;
  try {
    recorded = JSON.parse(await readFile(join(venv, 'engine.json'), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (recorded.requirementsHash !== requirementsHash) return undefined;
  if (recorded.source === 'system' && Date.now() - Date.parse(recorded.setUpAt) > retryPyPiAfterMs)
    return undefined;
  const python = recorded.source === 'venv' ? join(venv, 'bin', 'python') : recorded.python;
  const ytDlpVersion = await importedVersion(python);
  return ytDlpVersion ? { python, ytDlpVersion, source: recorded.source } : undefined;
}

/** Writes the choice down last, so that an interrupted set-up is done again. */
async function record({ venv }, { python, ytDlpVersion, source, requirementsHash }) {
  await mkdir(venv, { recursive: true });
  const content = {
    source,
    // Relative: the folder may be copied into an image.
    python: source === 'venv' ? 'bin/python' : python,
    ytDlpVersion,
    requirementsHash,
    setUpAt: new Date().toISOString(),
  };
  const file = join(venv, 'engine.json');
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`);
  await rename(`${file}.new`, file);
  return { python, ytDlpVersion, source };
}

async function installIntoVenv(context, requirements) {
  const { venv, log, env } = context;
  const created = await createVenv(context);
  if (!created.python) return created;
  log('Installing yt-dlp and its JavaScript runtime from PyPI (about 50 MB)…');
  const pip = await run(created.python, ['-m', 'pip', 'install', ...pipOptions, '-r', requirements], {
    env,
    onLine: (line) => /^(Collecting|Installing|Successfully)/.test(line) && log(`  ${line.slice(0, 160)}`),
  });
  if (pip.code !== 0) {
    await rm(venv, { recursive: true, force: true });
    return { reason: pipFailure(pip.output) };
  }
  const ytDlpVersion = await importedVersion(created.python);
  if (!ytDlpVersion) return { reason: 'the installed package cannot be imported' };
  return { python: created.python, ytDlpVersion };
}

async function createVenv(context) {
  const { venv, log, env } = context;
  let base = await basePython(env);
  if (!base && (await aptInstall(context, ['python3', 'python3-venv']))) base = await basePython(env);
  if (!base) return { reason: `no Python ${minimumPython.join('.')} or later` };
  await rm(venv, { recursive: true, force: true });
  log(`Creating a virtual environment with ${base}`);
  let made = await run(base, ['-m', 'venv', venv], { env });
  // Debian ships venv without what it needs to put pip into it.
  if (made.code !== 0 && (await aptInstall(context, ['python3-venv']))) {
    made = await run(base, ['-m', 'venv', '--clear', venv], { env });
  }
  if (made.code !== 0) made = await run(base, ['-m', 'virtualenv', '--clear', venv], { env });
  if (made.code !== 0) return { reason: `${base} -m venv fails; install the package python3-venv` };
  return { python: join(venv, 'bin', 'python') };
}

/** The newest suitable interpreter; `python3` may be an old one where newer ones have a number. */
async function basePython(env) {
  const numbered = [14, 13, 12, 11, 10].map((minor) => `python3.${minor}`);
  for (const python of ['python3', '/usr/bin/python3', ...numbered]) {
    const { code, output } = await run(python, ['-c', 'import sys; print(*sys.version_info[:2])'], { env });
    const [major = 0, minor = 0] = output.trim().split(' ').map(Number);
    if (code === 0 && major === minimumPython[0] && minor >= minimumPython[1]) return python;
  }
  return undefined;
}

/** An interpreter of the system that has yt-dlp; `python3` on PATH need not be the one apt installs for. */
async function systemEngine({ env }) {
  const brew = await run('brew', ['--prefix', 'yt-dlp'], { env });
  const brewed = brew.code === 0 ? [join(brew.output.trim(), 'libexec', 'bin', 'python')] : [];
  for (const python of ['/usr/bin/python3', 'python3', '/usr/local/bin/python3', ...brewed]) {
    const ytDlpVersion = await importedVersion(python);
    if (ytDlpVersion) return { python, ytDlpVersion };
  }
  return undefined;
}

async function installSystemEngine(context) {
  if (await aptInstall(context, ['yt-dlp'])) return systemEngine(context);
  if (process.platform === 'darwin') {
    context.log('Installing yt-dlp with brew…');
    const brew = await run('brew', ['install', 'yt-dlp'], { env: context.env });
    if (brew.code === 0) return systemEngine(context);
  }
  return undefined;
}

async function aptInstall({ log, env }, packages) {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get')) return false;
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = async (...args) => {
    const [file, ...rest] = [...prefix, 'apt-get', ...args];
    const result = await run(file, rest, { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } });
    return result.code === 0;
  };
  log(`Installing ${packages.join(', ')} with apt…`);
  const install = () => apt('install', '-y', '--no-install-recommends', ...packages);
  return (await install()) || ((await apt('update')) && (await install()));
}

/** The version of yt-dlp that an interpreter imports; undefined where it cannot. */
async function importedVersion(python) {
  const { code, output } = await run(python, ['-c', 'import yt_dlp.version as v; print(v.__version__)'], {
    env: { ...process.env, PYTHONPATH: '' },
  });
  return code === 0 ? output.trim().split('\n').at(-1) : undefined;
}

function pipFailure(output) {
  if (
    /connection|resolve|timed out|retrying|max retries|no matching distribution|could not find a version/i.test(
      output,
    )
  ) {
    return 'the package index cannot be reached or lacks a pinned package';
  }
  if (/hash/i.test(output)) return 'a package does not have the pinned hash';
  return output.trim().split('\n').at(-1)?.slice(0, 200) || 'pip failed';
}

/** Runs a program to its end; a missing program is exit code 127. */
function run(file, args, { env, onLine = () => {} }) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (chunk) => {
      const text = chunk.toString();
      output = (output + text).slice(-20_000);
      for (const line of text.split('\n')) onLine(line);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
