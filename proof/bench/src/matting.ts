/**
 * Quality of the mattes: `npm run bench -- matting [--small | --large] [--groups a,b] [--seed N] [--gate] [--store] [FOLDER]`.
 * Without a folder it uses generated scenes with exact alpha and colours (`--large`: 2 to 12
 * megapixels; `--seed` varies them). FOLDER comes from `npm run bench -- pictures`, or has pairs `name.jpg`, `name-alpha.png`.
 * `--gate` fails if a figure is worse than in `data/baseline.json`; `--store` writes the figures
 * there and into the table of docs/internals/benchmarks-bg-removal.md, with both precisions side by side.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pairScenes, pictureScenes } from './matting/folder.js';
import { baselineSchema, regressions, storedForm } from './matting/gate.js';
import { meanFigures, score, type Figures } from './matting/metrics.js';
import { openNetwork } from './matting/network.js';
import { coloursFromTruth, cutOutScene, servedAlpha, variants } from './matting/pipeline.js';
import { qualityTable } from './matting/quality-table.js';
import { makeScene, sceneList, type Scene, type SceneSize, type SubjectScene } from './matting/scenes.js';
import { finishedUpload, hasUploads, tightUpload, uploadGroups } from './matting/uploads.js';
import { scoredCutOuts } from './pictures/list.js';
import { keep } from './report.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    groups: { type: 'string' },
    seed: { type: 'string', default: '0' },
    gate: { type: 'boolean', default: false },
    store: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const [folder] = positionals;
const size: SceneSize = values.large ? 'large' : values.small ? 'small' : 'medium';
if (values.seed !== '0' && (values.gate || values.store)) {
  throw new Error('--seed creates other scenes, so their metrics cannot be stored or compared');
}

const wantedGroups = values.groups?.split(',');
const isWanted = (group: string): boolean => wantedGroups?.includes(group) ?? true;

async function* generatedScenes(): AsyncGenerator<Scene> {
  for (const spec of sceneList(size)) {
    const isInUploads = uploadGroups.some(isWanted) && hasUploads(spec, size);
    if (!isWanted(spec.group) && !isInUploads) continue;
    const scene = await makeScene({ ...spec, seed: spec.seed + Number(values.seed) });
    if (isWanted(spec.group)) yield scene;
    if (isInUploads) yield* uploadsOf(scene);
  }
}

/** A scene's subject alone, as people upload it. */
async function* uploadsOf(scene: SubjectScene): AsyncGenerator<Scene> {
  for (const upload of [finishedUpload(scene), await tightUpload(scene)])
    if (isWanted(upload.group)) yield upload;
}

async function* picturesWithUploads(folder: string): AsyncGenerator<Scene> {
  for await (const scene of pictureScenes(folder, scoredCutOuts)) {
    if (isWanted(scene.group)) yield scene;
    yield* uploadsOf(scene);
  }
}

function scenes(): AsyncGenerator<Scene> {
  if (folder === undefined) return generatedScenes();
  const isOfPictures = existsSync(path.join(folder, 'cut-outs'));
  return isOfPictures ? picturesWithUploads(folder) : pairScenes(folder);
}

const network = await openNetwork();
const scores: Record<string, Record<string, Figures[]>> = {};
const record = (group: string, variant: string, figures: Figures): void => {
  for (const each of [group, 'all']) ((scores[each] ??= {})[variant] ??= []).push(figures);
};

for await (const scene of scenes()) {
  const { found } = await network.find(scene);
  const { group } = scene;
  const all = Object.entries(variants);
  // Millions of pixels for each: only the first and the last two.
  for (const [variant, settings] of size === 'large' ? [...all.slice(0, 1), ...all.slice(-2)] : all) {
    record(group, variant, score(cutOutScene(scene, found, settings), scene));
  }
  const served = found.kind === 'own-alpha' ? scene.alpha : servedAlpha(scene);
  // Feathering makes pixels visible whose colours are unknown in photographs.
  const servedTruth = {
    ...scene,
    alpha: served,
    foreground: folder === undefined ? scene.foreground : null,
  };
  record(
    group,
    'as served, truth tuned alike',
    score(cutOutScene(scene, found, variants['as served']), servedTruth),
  );
  if (scene.foreground !== null && size !== 'large' && !uploadGroups.includes(group)) {
    record(group, 'exact matte', score(coloursFromTruth(scene, false), scene));
    record(group, 'exact matte + colour', score(coloursFromTruth(scene, true), scene));
    record(group, 'exact matte, tuned', score({ alpha: served, rgb: scene.foreground }, scene));
  }
  process.stderr.write(`${scene.name}\n`);
}

const groups = Object.fromEntries(
  Object.entries(scores).map(([group, byVariant]) => [
    group,
    Object.fromEntries(Object.entries(byVariant).map(([variant, each]) => [variant, meanFigures(each)])),
  ]),
);

const columns = [
  ['mae', 4],
  ['sad', 1],
  ['grad', 3],
  ['iou', 3],
  ['colour', 4],
] as const;
process.stdout.write(
  `| group | step (${network.precision}) | MAE | SAD/1000 | gradient/1000 | IoU | colour error |\n|---|---|---|---|---|---|---|\n`,
);
const { all = {}, ...single } = groups;
for (const [group, byVariant] of [...Object.entries(single), ['all', all] as const]) {
  for (const [variant, figures] of Object.entries(byVariant)) {
    const cells = columns.map(([key, digits]) => {
      const value = figures[key];
      return Number.isNaN(value) ? '–' : value.toFixed(digits);
    });
    process.stdout.write(`| ${group} | ${variant} | ${cells.join(' | ')} |\n`);
  }
}

const measured = storedForm(single);
if (values.json) await writeFile(values.json, `${JSON.stringify(measured, null, 2)}\n`);
if (values.gate || values.store) {
  const file = new URL('../data/baseline.json', import.meta.url);
  const baseline = baselineSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const set = folder === undefined ? (size === 'medium' ? 'scenes' : `${size} scenes`) : 'photographs';
  const stored = baseline[network.precision]?.[set] ?? {};
  if (values.store) {
    const ofPrecision = { ...baseline[network.precision], [set]: { ...stored, ...measured } };
    const next = { ...baseline, [network.precision]: ofPrecision };
    await writeFile(file, `${JSON.stringify(next, null, 2)}\n`);
    // The page has no table of the small scenes, which only the gate reads.
    if (set !== 'small scenes') {
      await keep(
        `bench:matting ${set}`,
        qualityTable(next, set).trimEnd(),
        'docs/internals/benchmarks-bg-removal.md',
      );
    }
  } else {
    const worse = regressions(stored, measured);
    for (const line of worse) process.stderr.write(`worse: ${line}\n`);
    if (worse.length > 0) process.exitCode = 1;
  }
}
