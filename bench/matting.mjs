/**
 * Quality of the mattes: `pnpm bench:matting [--small] [--groups a,b] [--json FILE] [FOLDER]`.
 * Without a folder, on generated scenes with exact alpha and colours.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { folderScenes } from './matting/folder.mjs';
import { meanScore, score } from './matting/metrics.mjs';
import { coloursFromTruth, cutOutScene, openModel, variants } from './matting/pipeline.mjs';
import { makeScene, sceneList } from './matting/scenes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'boolean', default: false },
    groups: { type: 'string' },
    json: { type: 'string' },
  },
});

async function* generatedScenes() {
  const wanted = values.groups?.split(',');
  for (const spec of sceneList({ small: values.small })) {
    if (wanted === undefined || wanted.includes(spec.group)) yield makeScene(spec);
  }
}

const model = await openModel();
/** @type {Record<string, Record<string, object[]>>} */
const groups = {};
const add = (group, variant, figures) => ((groups[group] ??= {})[variant] ??= []).push(figures);

for await (const scene of positionals[0] ? folderScenes(positionals[0]) : generatedScenes()) {
  const mask = await model.mask(scene);
  const truth = { ...scene, foreground: scene.foreground ?? scene.composite };
  const record = (variant, figures) => {
    if (scene.foreground === null) figures.colour = Number.NaN;
    for (const group of [scene.group, 'all']) add(group, variant, figures);
  };
  for (const [variant, settings] of Object.entries(variants))
    record(variant, score(cutOutScene(scene, mask, settings), truth));
  if (scene.foreground !== null) {
    for (const [variant, estimate] of [
      ['exact matte', false],
      ['exact matte + colour', true],
    ]) {
      record(variant, score(coloursFromTruth(scene, estimate), truth));
    }
  }
  process.stderr.write(`${scene.name}\n`);
}

const result = Object.fromEntries(
  Object.entries(groups).map(([group, byVariant]) => [
    group,
    Object.fromEntries(Object.entries(byVariant).map(([variant, scores]) => [variant, meanScore(scores)])),
  ]),
);
if (values.json) await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`);

const columns = { mae: 4, sad: 1, grad: 3, iou: 3, colour: 4 };
process.stdout.write(
  `| group | step | MAE | SAD/1000 | gradient/1000 | IoU | colour error |\n|---|---|---|---|---|---|---|\n`,
);
const { all, ...single } = result;
for (const [group, byVariant] of [...Object.entries(single), ['all', all]]) {
  for (const [variant, figures] of Object.entries(byVariant)) {
    const cells = Object.entries(columns).map(([key, digits]) => figures[key].toFixed(digits));
    process.stdout.write(`| ${group} | ${variant} | ${cells.join(' | ')} |\n`);
  }
}
