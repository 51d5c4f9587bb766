import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { spawn, execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { checkDownloadEngine } from '../src/doctor/doctor.mjs';
import { findExecutable } from '../src/set-up/executables.mjs';
import { withLock } from '../src/set-up/lock.mjs';
import {
  dependenciesAreCurrent,
  removeOtherPlatforms,
  stampDependencies,
} from '../src/set-up/dependencies.mjs';
import { checkNodeVersion, isAtLeast, isWanted, readSettings, root } from '../src/set-up/project.mjs';
import { installSystemTools } from '../src/set-up/system-packages.mjs';
import { scratch, fakeProgram } from './support/scratch.js';
import { engineFolder, findSystemYtDlp, setUpPythonEngine } from '../src/set-up/python-engine.mjs';
import { UserError } from '../src/set-up/user-error.mjs';

test('versions are compared as numbers', () => {
  expect(isAtLeast('20.19.0', '20.19')).toBe(true);
  expect(isAtLeast('24.1.0', '20.19')).toBe(true);
  expect(isAtLeast('20.100.0', '20.19')).toBe(true);
  expect(isAtLeast('20.9.0', '20.19')).toBe(false);
  expect(isAtLeast('18.99.9', '20.19')).toBe(false);
});

test('a Node that is too old is rejected with the required version', () => {
  expect(() => checkNodeVersion('18.0.0')).toThrow(/Node 18\.0\.0 is too old: 20\.19 or later/);
});

test("onnxruntime's binaries for other platforms are removed", () => {
  const folder = scratch();
  const bin = join(folder, 'node_modules/.pnpm/onnxruntime-node@1/node_modules/onnxruntime-node/bin/napi-v6');
  const own = join(process.platform, process.arch);
  const others = ['darwin/arm64', 'win32/x64', 'win32/arm64'].filter((name) => name !== own);
  for (const name of [own, ...others]) mkdirSync(join(bin, name), { recursive: true });

  removeOtherPlatforms(folder);

  expect(existsSync(join(bin, own))).toBe(true);
  expect(others.filter((name) => existsSync(join(bin, name)))).toEqual([]);
  removeOtherPlatforms(scratch());
});

test('dependencies are outdated only after the lockfile has changed', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
    writeFileSync(join(folder, name), name);
  }
  expect(dependenciesAreCurrent(folder)).toBe(false);
  stampDependencies(folder, 'run');
  expect(dependenciesAreCurrent(folder)).toBe(true);
  expect(dependenciesAreCurrent(folder, 'all')).toBe(false);
  stampDependencies(folder, 'all');
  expect(dependenciesAreCurrent(folder)).toBe(true);
  expect(dependenciesAreCurrent(folder, 'all')).toBe(true);
  writeFileSync(join(folder, 'pnpm-lock.yaml'), 'another');
  expect(dependenciesAreCurrent(folder)).toBe(false);
});

test('finds a program on PATH only if it is an executable file', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'tool'));
  const env = { PATH: folder };
  expect(findExecutable('tool', [], env)).toBeUndefined();
  writeFileSync(join(folder, 'other'), '');
  expect(findExecutable('other', [], env)).toBeUndefined();
  chmodSync(join(folder, 'other'), 0o755);
  expect(findExecutable('other', [], env)).toBe(join(folder, 'other'));
});

const tool = {
  name: 'ffmpeg',
  purpose: 'converts media',
  isThere: () => false,
  packages: { any: 'ffmpeg', dnf: 'ffmpeg-free' },
};
const log = (): undefined => undefined;

test('if a tool cannot be installed, the message says how to install it', async () => {
  const installing = installSystemTools({ tools: [tool], log, env: { PATH: scratch() } });

  await expect(installing).rejects.toThrow(/Missing: ffmpeg \(converts media\)/);
  await expect(installing).rejects.toThrow(/apt-get install -y --no-install-recommends ffmpeg/);
});

test.each([
  ['dnf', 'sudo dnf install -y ffmpeg-free'],
  ['apk', 'sudo apk add --no-cache ffmpeg'],
  ['pacman', 'sudo pacman -S --needed --noconfirm ffmpeg'],
  ['brew', 'brew install ffmpeg'],
])("if a tool cannot be installed, the message has %s's command", async (program, command) => {
  const folder = scratch();
  fakeProgram(folder, program, 'exit 3');
  vi.stubEnv('PATH', folder);
  onTestFinished(() => void vi.unstubAllEnvs());

  await expect(installSystemTools({ tools: [tool], log })).rejects.toThrow(`:\n  ${command}`);
});

test('an existing tool is not installed again', async () => {
  const lines: string[] = [];

  const installing = installSystemTools({
    tools: [{ ...tool, isThere: () => true }],
    log: (line) => void lines.push(line),
  });

  await expect(installing).resolves.toBe('present');
  expect(lines).toEqual([]);
});

test('settings come from .env, and the environment takes precedence', () => {
  const folder = scratch();
  writeFileSync(join(folder, '.env'), "# comment\nPORT=9000\nHOST='0.0.0.0'\nIMAGE_MAX_BYTES=\n");
  const env: NodeJS.ProcessEnv = { HOST: '127.0.0.1' };

  readSettings(folder, env);

  expect(env).toEqual({ HOST: '127.0.0.1', PORT: '9000', IMAGE_MAX_BYTES: '' });
});

test.each([
  ['a byte order mark', '\ufeffPORT=9000\r\n', { PORT: '9000' }],
  [
    'a # inside a value',
    `A=http://u:p#1@h:2\nB=a#b # c\nC=a # b#c\nD=it's room#1 \nE="a#b"\nF=#e\n#G=g#h\n  #H=h`,
    { A: 'http://u:p#1@h:2', B: 'a#b', C: 'a', D: "it's room#1", E: 'a#b', F: '' },
  ],
  ['colons', 'A: 1\nexport B:c#d\nC=e:f\n#D: g\nE : h', { A: '1', B: 'c#d', C: 'e:f', E: 'h' }],
  ['export, spaces and quotes', 'export A = 1\n B="c d"\nC=\'$e\'\n', { A: '1', B: 'c d', C: '$e' }],
])('reads .env with %s like Compose does', (_what, text, expected) => {
  const folder = scratch();
  writeFileSync(join(folder, '.env'), text);
  const env: NodeJS.ProcessEnv = {};

  readSettings(folder, env);

  expect(env).toEqual(expected);
});

test.each([
  ['a line that is no setting', 'my settings\nPORT=9000\n', /Correct or delete the line "my settings"/],
  ['a name without a value', 'PORT\nHOST=::1\n', /the line "PORT"/],
  ['UTF-16', Buffer.from('\ufeffPORT=9000\n', 'utf16le'), /in UTF-8/],
])('rejects a .env with %s instead of ignoring a setting', (_what, content, message) => {
  const folder = scratch();
  writeFileSync(join(folder, '.env'), content);

  expect(() => readSettings(folder, {})).toThrow(message);
});

test('a .env that cannot be read is explained', () => {
  const folder = scratch();
  mkdirSync(join(folder, '.env'));

  expect(() => readSettings(folder, {})).toThrow(/Cannot read .*\.env \(EISDIR\)\. Make it a file/);
});

test('a missing .env is ignored', () => {
  const env: NodeJS.ProcessEnv = {};

  readSettings(scratch(), env);

  expect(env).toEqual({});
});

test.each([
  [undefined, ['video-dl', 'bg-removal']],
  [' , ', ['video-dl', 'bg-removal']],
  ['bg-removal, video-dl', ['video-dl', 'bg-removal']],
  [' video-dl', ['video-dl']],
])('SERVICES=%s needs %j', (value, expected) => {
  const wanted = ['video-dl', 'bg-removal'].filter((service) => isWanted(service, { SERVICES: value }));

  expect(wanted).toEqual(expected);
});

test('the second command waits for the first and says so', async () => {
  const file = join(scratch(), 'lock');
  const order: string[] = [];
  const said: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const running = withLock(
    file,
    () => undefined,
    async () => {
      await held;
      order.push('first');
    },
  );

  const waiting = withLock(
    file,
    (text) => {
      said.push(text);
      release();
    },
    () => Promise.resolve(order.push('second')),
  );
  await Promise.all([running, waiting]);

  expect(order).toEqual(['first', 'second']);
  expect(said).toEqual([expect.stringContaining(`process ${process.pid}`)]);
  expect(() => readlinkSync(file)).toThrow('ENOENT');
});

test('the lock of a command that was killed is taken over', async () => {
  const file = join(scratch(), 'lock');
  const dead = spawn(process.execPath, ['-e', '']);
  await once(dead, 'exit');
  symlinkSync(`${dead.pid}-`, file);

  await expect(
    withLock(
      file,
      () => undefined,
      () => Promise.resolve('done'),
    ),
  ).resolves.toBe('done');
});

const runsMain = fileURLToPath(new URL('../src/set-up/user-error.mjs', import.meta.url));

const linuxTest = process.platform === 'linux' ? test : test.skip;

test.each([
  ['not a link', (file: string) => writeFileSync(file, '')],
  [
    'of a process id that belongs to another process now',
    (file: string) => symlinkSync(`${process.pid}-1`, file),
  ],
])('a lock without an owner is taken over: %s', async (_what, leave) => {
  const file = join(scratch(), 'lock');
  leave(file);
  const work = () => Promise.resolve('done');

  await expect(withLock(file, () => undefined, work)).resolves.toBe('done');
});

linuxTest.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'no reader'] as const)(
  '%s during set-up ends every program it has started and releases the lock',
  async (signal) => {
    const folder = scratch();
    const lock = join(folder, 'lock');
    const program = `sleep 1000 & echo $! > ${join(folder, 'pid')}; wait`;
    const modules = new URL('../src/set-up/', import.meta.url);
    const command = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `import { withLock } from '${new URL('lock.mjs', modules).href}';
      import { runCommandLine } from '${runsMain}';
      import { runCommand } from '${new URL('run-command.mjs', modules).href}';
      const work = () => withLock(${JSON.stringify(lock)}, console.log, () => runCommand('sh', ['-c', ${JSON.stringify(program)}]));
      const timer = setInterval(() => console.log('…'), 10);
      await runCommandLine(work);
      clearInterval(timer);`,
    ]);
    const ended = once(command, 'exit');
    const pidOf = () =>
      existsSync(join(folder, 'pid')) ? Number(readFileSync(join(folder, 'pid'), 'utf8')) : 0;
    while (pidOf() === 0) await delay(10);
    expect(readlinkSync(lock)).toContain(`${command.pid}-`);

    if (signal === 'no reader') command.stdout.destroy();
    else command.kill(signal);

    expect(await ended).toEqual([signal === 'no reader' ? 1 : 128 + constants.signals[signal], null]);
    expect(() => readlinkSync(lock)).toThrow('ENOENT');
    while (existsSync(`/proc/${pidOf()}`)) await delay(10);
  },
);

test('work that fails releases the lock', async () => {
  const file = join(scratch(), 'lock');

  await expect(
    withLock(
      file,
      () => undefined,
      () => Promise.reject(new Error('no')),
    ),
  ).rejects.toThrow('no');

  expect(() => readlinkSync(file)).toThrow('ENOENT');
});

/** Runs Node until it exits. */
function node(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

test.each([
  ['EACCES', /^✗ EACCES: permission denied, open 'x'\n.*chown/],
  ['ENOSPC', /Free some space/],
])('a command that fails with %s says what to do, without a stack trace', async (code, message) => {
  const failure = `Object.assign(new Error('${code}: permission denied, open \\'x\\''), { code: '${code}' })`;

  const { code: exitCode, stderr } = await node(
    '--input-type=module',
    '-e',
    `import { runCommandLine } from '${runsMain}'; await runCommandLine(async () => { throw ${failure}; });`,
  );

  expect(exitCode).toBe(1);
  expect(stderr.trim()).toMatch(message);
  expect(stderr).not.toContain('    at ');
});

/** The exit code of a command with this main function. */
async function exitCodeOf(main: string): Promise<number> {
  const script = `import { runCommandLine } from ${JSON.stringify(runsMain)}; await runCommandLine(async () => { ${main} });`;
  return (await node('--input-type=module', '-e', script)).code;
}

it.each([
  ['returns nothing', '', 0],
  ['returns a code', 'return 4;', 4],
  ['sets a code', 'process.exitCode = 3;', 3],
  ['throws', 'throw new Error("no");', 1],
])('a command that %s exits with its code', async (_what, main, code) => {
  expect(await exitCodeOf(main)).toBe(code);
});

it.each(['--help', '-h'])('`npm start -- %s` prints the usage instead of starting', async (option) => {
  const { code, stdout, stderr } = await node(join(root, 'scripts/start.mjs'), option);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const setting of ['PORT', 'HOST', 'LOG']) expect(stdout).toContain(`  ${setting}`);
});

it.each([
  ...['start', 'setup', 'doctor', 'update-yt-dlp'].map((name) => `scripts/${name}.mjs`),
  ...['test', 'demo', 'fuzz', 'soak-faults', 'test-sites', 'test-corpora'].map(
    (name) => `proof/scripts/${name}.mjs`,
  ),
])('%s rejects an unknown option with code 2 and the usage', async (script) => {
  const { code, stdout, stderr } = await node(join(root, script), '--nonsense');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^\n✗ Unknown option '--nonsense'\.\n\nnpm /);
});

it.each(['compose', 'swarm', 'kubernetes', 'workflows', 'arm64'])(
  '`npm run proof -- %s --help` prints the usage instead of verifying',
  async (place) => {
    const script = join(root, 'proof/scripts/verify.mjs');
    const { code, stdout } = await node(script, place, '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^npm run proof -- ${place}\\b`));
    expect((await node(script, place, '--nonsense')).code).toBe(2);
  },
);

test('a command without positional arguments rejects them', async () => {
  const { code, stderr } = await node(join(root, 'scripts/start.mjs'), 'video-dl');
  expect(code).toBe(2);
  expect(stderr).toContain("✗ Unexpected argument 'video-dl'.");
});

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
  const found = checkDownloadEngine(root, { YTDLP_PYTHON: python });
  expect(found.found).toContain('2026.01.31 (configured');
});

test.each(['{', '{}', 'null'])(
  'npm run doctor reports a damaged record of the download engine: %s',
  (record) => {
    const root = checkout();
    mkdirSync(join(root, engineFolder, '.venv'));
    writeFileSync(join(root, engineFolder, '.venv', 'engine.json'), record);

    expect(checkDownloadEngine(root, {})).toMatchObject({ state: 'wrong' });
  },
);

test('a YTDLP_PYTHON that cannot import yt-dlp is explained', async () => {
  const setting = setUpPythonEngine({ root: checkout(), env: { YTDLP_PYTHON: '/no/python' } });

  await expect(setting).rejects.toThrow(UserError);
  await expect(setting).rejects.toThrow(/YTDLP_PYTHON is \/no\/python/);
});

test("uses and remembers the system's yt-dlp if PyPI is unreachable", async () => {
  const root = checkout();
  // Where the system has no yt-dlp, its Python finds this one.
  const packages = scratch();
  mkdirSync(join(packages, 'yt_dlp'));
  writeFileSync(join(packages, 'yt_dlp', '__init__.py'), '');
  writeFileSync(join(packages, 'yt_dlp', 'version.py'), "__version__ = '2026.01.01'\n");
  vi.stubEnv('PYTHONPATH', packages);
  onTestFinished(() => void vi.unstubAllEnvs());
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
