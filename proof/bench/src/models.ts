/**
 * Compares the models that can be installed: `npm run bench -- models [--rounds N] [--models a,b] [PICTURES]`.
 * Installs each, then measures matte errors on the generated scenes (`--small` of bench:matting)
 * and, with PICTURES (a folder of bench:pictures), on photographs; the seconds of its bare
 * network, alternating with the others; and the peak memory of its process.
 */
import { parseArgs } from 'node:util';
import type { Precision } from '@media-services/bg-removal/dist/inference/choices.js';
import {
  defaultModelId,
  defaultModelsDir,
  knownModels,
} from '@media-services/bg-removal/dist/model/known-models.js';
import { setUpModel } from '@media-services/bg-removal/dist/model/set-up-model.js';
import { bareNetwork } from './bg/contenders.js';
import type { LineProcess } from './bg/line-process.js';
import { markdownTable, speedsOf } from './bg/report.js';
import { takeTurns } from './bg/turns.js';
import { pictureScenes } from './matting/folder.js';
import { meanFigures, score, type Figures } from './matting/metrics.js';
import { openNetwork, type Network } from './matting/network.js';
import { cutOutScene, variants } from './matting/pipeline.js';
import { makeScene, sceneList, type Scene } from './matting/scenes.js';
import { scoredCutOuts } from './pictures/list.js';

const packaged = knownModels.filter(({ source }) => source.kind === 'npm-package').map(({ id }) => id);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    models: { type: 'string', default: packaged.join(',') },
  },
});
const [folder] = positionals;
const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function* generatedScenes(): AsyncGenerator<Scene> {
  for (const spec of sceneList('small')) yield makeScene(spec);
}

async function figuresOn(scenes: AsyncGenerator<Scene>, network: Network): Promise<Figures> {
  const figures: Figures[] = [];
  for await (const scene of scenes) {
    const cutOut = cutOutScene(
      scene,
      (await network.find(scene)).found,
      variants['refined + colour + alpha'],
    );
    figures.push(score(cutOut, scene));
  }
  return meanFigures(figures);
}

interface Candidate {
  readonly model: string;
  readonly precision: Precision;
  readonly licence: string;
  readonly contender: LineProcess;
  readonly quality: readonly Figures[];
}

async function candidate(model: string, precision: Precision): Promise<Candidate> {
  const { manifest } = await setUpModel({ model, modelsDir: defaultModelsDir, log });
  const network = await openNetwork({ model, precision });
  const quality = [await figuresOn(generatedScenes(), network)];
  if (folder !== undefined) quality.push(await figuresOn(pictureScenes(folder, scoredCutOuts), network));
  log(`${model}, ${precision}: scored`);
  const contender = await bareNetwork(precision, model);
  return { model, precision, licence: manifest.licence, contender, quality };
}

const candidates: Candidate[] = [];
try {
  for (const model of values.models.split(',')) {
    if (model === defaultModelId) candidates.push(await candidate(model, 'int8'));
    candidates.push(await candidate(model, 'fp32'));
  }
  const contenders = candidates.map(({ contender }) => contender);
  const [own] = contenders;
  if (own === undefined) throw new Error('Name at least one model.');
  // A bare network needs no image.
  const runs = await takeTurns(contenders, [{ megapixels: 0, file: '' }], Number(values.rounds), log);
  const speeds = new Map(speedsOf(runs, own).map((speed) => [speed.name, speed]));
  const sets = ['generated scenes', 'photographs'].slice(0, candidates[0]?.quality.length);
  const rows = candidates.map(async ({ model, precision, licence, contender, quality }) => {
    const { ms = Number.NaN, ratio = Number.NaN } = speeds.get(contender.name) ?? {};
    return [
      `${model}, ${precision}`,
      licence,
      ...quality.map(({ mae, iou }) => `${mae.toFixed(4)}, ${iou.toFixed(3)}`),
      `${(ms / 1000).toFixed(2)} (${ratio.toFixed(2)} ×)`,
      await contender.peakMiB(),
    ];
  });
  process.stdout.write(
    markdownTable(
      ['model', 'licence', ...sets.map((set) => `${set}: MAE, IoU`), 'seconds', 'peak MiB'],
      await Promise.all(rows),
    ),
  );
} finally {
  await Promise.allSettled(candidates.map(({ contender }) => contender.stop()));
}
