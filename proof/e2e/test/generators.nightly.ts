import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newClient } from './support/client.js';
import { root, stack } from './support/stack.js';

const run = promisify(execFile);
const versions = {
  pythonClient: '0.29.1',
  generator: '7.18.0',
  postman: '6.3.3',
  newman: '6.2.2',
  spectral: '6.16.3',
  redocly: '2.25.0',
};
const tools = join(root, '.tools', `generators-${Object.values(versions).join('-')}`);
const bin = join(tools, 'node_modules/.bin');
const python = join(tools, 'venv/bin/python');
const jar = join(tools, `openapi-generator-cli-${versions.generator}.jar`);
const programs = join(root, 'proof/e2e/test/generators');

/** Programs of other languages; a machine without them skips their tests. */
function isThere(program: string, option = '--version'): boolean {
  try {
    execFileSync(program, [option], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
const hasJava = isThere('java') && isThere('mvn');
const hasGo = isThere('go', 'version');

let folder: string;
let document: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-generators-'));
  document = join(folder, 'openapi.json');
  writeFileSync(document, await (await fetch(`${stack.gateway}/openapi.json`)).text());
  mkdirSync(tools, { recursive: true });
  if (!existsSync(python)) {
    await run('python3', ['-m', 'venv', join(tools, 'venv')]);
    const packages = [
      `openapi-python-client==${versions.pythonClient}`,
      'urllib3',
      'pydantic',
      'python-dateutil',
    ];
    await run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
  }
  if (!existsSync(bin)) {
    const packages = [
      `openapi-to-postmanv2@${versions.postman}`,
      `newman@${versions.newman}`,
      `@stoplight/spectral-cli@${versions.spectral}`,
      `@redocly/cli@${versions.redocly}`,
    ];
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', tools, ...packages]);
  }
  if (hasJava && !existsSync(jar)) {
    const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${versions.generator}`;
    await run('mvn', ['--quiet', '--batch-mode', 'dependency:copy', artifact, `-DoutputDirectory=${tools}`]);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function generate(generator: string, ...options: readonly string[]): Promise<string> {
  const output = join(folder, generator);
  await run('java', ['-jar', jar, 'generate', '-g', generator, '-i', document, '-o', output, ...options]);
  return output;
}

/** What every client prints: a title, and the beginnings of an MP3 and of a WebP, and an error's code. */
const expected = ['A short sample film', 'ID3', 'WEBP', 'invalid_url'];

async function linesOf(file: string, args: readonly string[], options: object): Promise<string[]> {
  await using client = await newClient();
  const inputs = [client.url, `${stack.films}/film`, stack.photo];
  const { stdout } = await run(file, [...args, ...inputs], { ...options, maxBuffer: 100_000_000 });
  return stdout.trim().split('\n');
}

it('openapi-python-client', async () => {
  const output = join(folder, 'opc');
  const generated = ['-m', 'openapi_python_client', 'generate', '--path', document, '--output-path', output];
  await run(python, generated);
  const env = { ...process.env, PYTHONPATH: output };
  expect(await linesOf(python, [join(programs, 'openapi_python_client.py')], { env })).toEqual(expected);
});

it.skipIf(!hasJava)('openapi-generator for Python (needs Java and Maven)', async () => {
  const env = { ...process.env, PYTHONPATH: await generate('python') };
  expect(await linesOf(python, [join(programs, 'openapi_generator.py')], { env })).toEqual(expected);
});

it.skipIf(!hasJava || !hasGo)('openapi-generator for Go (needs Java, Maven and Go)', async () => {
  const output = await generate(
    'go',
    '--git-host',
    'example.org',
    '--git-user-id',
    '',
    '--git-repo-id',
    'client',
  );
  rmSync(join(output, 'test'), { recursive: true, force: true });
  writeFileSync(join(output, 'go.mod'), 'module example.org/client\n\ngo 1.23\n');
  mkdirSync(join(output, 'try'));
  copyFileSync(join(programs, 'main.go'), join(output, 'try/main.go'));
  const program = join(folder, 'try-go');
  await run('go', ['build', '-o', program, './try'], {
    cwd: output,
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
  expect(await linesOf(program, [], {})).toEqual(expected);
});

it.skipIf(!hasJava)('openapi-generator for TypeScript (needs Java and Maven)', async () => {
  const source = await generate('typescript-fetch');
  const output = join(folder, 'compiled');
  const flags = ['--strict', '--target', 'es2022', '--module', 'commonjs', '--moduleResolution', 'bundler'];
  const compiler = join(root, 'node_modules/typescript/bin/tsc6');
  await run(process.execPath, [compiler, ...flags, '--outDir', output, 'index.ts'], { cwd: source });
  const program = join(programs, 'typescript-fetch.mjs');
  expect(await linesOf(process.execPath, [program, join(output, 'index.js')], {})).toEqual(expected);
});

it.skipIf(!hasJava)('openapi-generator for Java (needs Java and Maven)', async () => {
  const output = await generate('java', '--library', 'native');
  const libraries = ['dependency:copy-dependencies', '-DincludeScope=compile', '-DoutputDirectory=lib'];
  await run('mvn', ['--quiet', '--batch-mode', ...libraries], { cwd: output });
  const path = ['-cp', 'lib/*', '-sourcepath', 'src/main/java'];
  await run('javac', ['-nowarn', ...path, '-d', 'out', join(programs, 'Main.java')], { cwd: output });
  expect(await linesOf('java', ['-cp', 'lib/*:out', 'Main'], { cwd: output })).toEqual(expected);
});

it('Postman, with every field of the form', async () => {
  const collection = join(folder, 'postman.json');
  await run(join(bin, 'openapi2postmanv2'), ['--spec', document, '--output', collection]);
  const env = { ...process.env, NODE_PATH: join(tools, 'node_modules') };
  const program = join(tools, 'postman.mjs');
  copyFileSync(join(programs, 'postman.mjs'), program);
  expect(await linesOf(process.execPath, [program, collection], { env })).toEqual(expected);
});

it.each([
  ['spectral', ['lint', '--fail-severity=warn', '--ruleset', 'spectral.yaml']],
  ['redocly', ['lint']],
])('%s finds nothing to complain about', async (linter, args) => {
  writeFileSync(join(folder, 'spectral.yaml'), 'extends: ["spectral:oas"]\n');
  await run(join(bin, linter), [...args, document], { cwd: folder });
});
