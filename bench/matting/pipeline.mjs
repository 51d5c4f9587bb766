import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';

const dist = path.resolve(import.meta.dirname, '../../apps/bg-removal/dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);

const { MattingSession } = await load('inference/matting-session.js');
const { choosePrecision, readCpuFlags } = await load('inference/precision.js');
const { locateModel, defaultModelsDir } = await load('model/locate-model.js');
const { verifyModel } = await load('model/verify-model.js');
const { cutOut, defaultSteps } = await load('matte/cut-out.js');
const { estimateForeground } = await load('matte/foreground.js');
const { gridFor } = await load('matte/grid.js');
const { defaultTuning } = await load('matte/tuning.js');

const neutral = { threshold: 0, feather: 0, foregroundStrength: 1 };

/** What is compared; each adds one step to the one before. */
export const variants = {
  bare: { steps: { refine: false, correctAlpha: false, estimateForeground: false }, tuning: neutral },
  refined: { steps: { ...defaultSteps, correctAlpha: false, estimateForeground: false }, tuning: neutral },
  'refined + colour': { steps: { ...defaultSteps, correctAlpha: false }, tuning: neutral },
  'refined + colour + alpha': { steps: defaultSteps, tuning: neutral },
  'as served': { steps: defaultSteps, tuning: defaultTuning },
};

/** The network of the service, in this process, in the precision that INFERENCE_PRECISION names. */
export async function openModel(
  model = process.env.MODEL || 'isnet-general-use',
  precision = process.env.INFERENCE_PRECISION || 'auto',
) {
  const { folder, manifest } = await verifyModel(
    locateModel(model, process.env.MODELS_DIR || defaultModelsDir),
  );
  const { inputSize, mean, std, activation, outputName } = manifest;
  const chosen = choosePrecision(precision, {
    hasInt8Graph: manifest.int8Graph !== undefined,
    onCpu: true,
    cpuFlags: await readCpuFlags(),
  });
  const session = await MattingSession.load({
    graphPath: path.join(folder, chosen === 'int8' ? manifest.int8Graph : manifest.graph),
    inputSize,
    mean,
    std,
    activation,
    outputName,
    threads: os.availableParallelism(),
    device: 'cpu',
  });
  return {
    manifest,
    /** @param {import('./scenes.mjs').Scene} scene */
    async mask({ composite, width, height }) {
      const rgb = await sharp(Buffer.from(composite), { raw: { width, height, channels: 3 } })
        .resize(inputSize.width, inputSize.height, { fit: 'fill', kernel: 'lanczos3' })
        .raw()
        .toBuffer();
      return session.run(rgb);
    },
  };
}

function rgbaOf({ composite, width, height }) {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let i = 0, j = 0; i < data.length; i += 4) {
    data[i] = composite[j++];
    data[i + 1] = composite[j++];
    data[i + 2] = composite[j++];
  }
  return { width, height, data };
}

function split({ width, height, data }) {
  const alpha = new Uint8Array(width * height);
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0, j = 0; i < alpha.length; i++) {
    rgb[j++] = data[i * 4];
    rgb[j++] = data[i * 4 + 1];
    rgb[j++] = data[i * 4 + 2];
    alpha[i] = data[i * 4 + 3];
  }
  return { alpha, rgb };
}

/** The cut-out of a scene by one variant. */
export function cutOutScene(scene, { mask, width, height }, { steps, tuning }) {
  const image = rgbaOf(scene);
  const found = cutOut(image, { width, height, data: mask.slice() }, tuning, steps);
  if (!found) image.data.fill(0);
  return split(image);
}

/** The colours that the estimation finds when it is given the exact matte: that step alone. */
export function coloursFromTruth(scene, estimate) {
  const image = rgbaOf(scene);
  if (estimate) estimateForeground(image, scene.alpha, gridFor(scene.width, scene.height));
  return { alpha: scene.alpha, rgb: split(image).rgb };
}
