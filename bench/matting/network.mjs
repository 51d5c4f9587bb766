import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { z } from 'zod';
import { MattingSession } from '../../apps/bg-removal/dist/inference/matting-session.js';
import {
  choosePrecision,
  precisionSettings,
  readCpuFlags,
} from '../../apps/bg-removal/dist/inference/precision.js';
import { defaultModelId } from '../../apps/bg-removal/dist/model/known-models.js';
import { defaultModelsDir, locateModel } from '../../apps/bg-removal/dist/model/locate-model.js';
import { verifyModel } from '../../apps/bg-removal/dist/model/verify-model.js';

/** As the service reads them. */
const settingsSchema = z.object({
  MODEL: z.string().default(defaultModelId),
  MODELS_DIR: z.string().default(defaultModelsDir),
  INFERENCE_PRECISION: z.enum(precisionSettings).default('auto'),
});

/** @typedef {Awaited<ReturnType<typeof openNetwork>>} Network */

/**
 * A network of the service in this process: by default the one that MODEL, MODELS_DIR and
 * INFERENCE_PRECISION name.
 * @param {{ precision?: string | undefined }} [wanted]
 */
export async function openNetwork({ precision: wanted } = {}) {
  const settings = settingsSchema.parse({
    ...process.env,
    ...(wanted !== undefined && { INFERENCE_PRECISION: wanted }),
  });
  const { folder, manifest } = await verifyModel(locateModel(settings.MODEL, settings.MODELS_DIR));
  const { inputSize, mean, std, activation, outputName, graph, int8Graph } = manifest;
  const precision = choosePrecision(settings.INFERENCE_PRECISION, {
    hasInt8Graph: int8Graph !== undefined,
    onCpu: true,
    cpuFlags: await readCpuFlags(),
  });
  const session = await MattingSession.load({
    graphPath: path.join(folder, (precision === 'int8' ? int8Graph : undefined) ?? graph),
    inputSize,
    mean,
    std,
    activation,
    outputName,
    threads: os.availableParallelism(),
    device: 'cpu',
  });
  return {
    precision,
    inputSize,
    session,
    /**
     * What the network says of a scene.
     * @param {Pick<import('./scenes.mjs').Scene, 'composite' | 'width' | 'height'>} scene
     */
    async mask({ composite, width, height }) {
      const rgb = await sharp(composite, { raw: { width, height, channels: 3 } })
        .resize(inputSize.width, inputSize.height, { fit: 'fill', kernel: 'lanczos3' })
        .raw()
        .toBuffer();
      return session.run(rgb);
    },
  };
}
