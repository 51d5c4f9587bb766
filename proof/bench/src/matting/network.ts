import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { z } from 'zod';
import { MattingSession } from '@media-services/bg-removal/dist/inference/matting-session.js';
import {
  choosePrecision,
  precisionSettings,
  hasAvx2,
  type Precision,
} from '@media-services/bg-removal/dist/inference/choices.js';
import {
  defaultModelId,
  defaultModelsDir,
  locateModel,
} from '@media-services/bg-removal/dist/model/known-models.js';
import { verifyModel } from '@media-services/bg-removal/dist/model/verify-model.js';
import type { Mask } from './pipeline.js';
import type { Shot } from './scenes.js';

/** As the service reads them. */
const settingsSchema = z.object({
  MODEL: z.string().default(defaultModelId),
  MODELS_DIR: z.string().default(defaultModelsDir),
  INFERENCE_PRECISION: z.enum(precisionSettings).default('auto'),
});

export interface Network {
  readonly precision: Precision;
  readonly inputSize: { readonly width: number; readonly height: number };
  readonly session: MattingSession;
  /** What the network says of a shot. */
  mask(shot: Shot): Promise<Mask>;
}

/**
 * A network of the service in this process: by default the one that MODEL, MODELS_DIR and
 * INFERENCE_PRECISION name.
 */
export async function openNetwork(wanted: { precision?: string; model?: string } = {}): Promise<Network> {
  const settings = settingsSchema.parse({
    ...process.env,
    ...(wanted.precision !== undefined && { INFERENCE_PRECISION: wanted.precision }),
    ...(wanted.model !== undefined && { MODEL: wanted.model }),
  });
  const { folder, manifest } = await verifyModel(locateModel(settings.MODEL, settings.MODELS_DIR));
  const { inputSize, mean, std, activation, outputName, graph, int8Graph } = manifest;
  const precision = choosePrecision(settings.INFERENCE_PRECISION, {
    hasInt8Graph: int8Graph !== undefined,
    onCpu: true,
    hasAvx2: await hasAvx2(),
    fitsFp32: true,
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
    async mask({ composite, width, height }) {
      const rgb = await sharp(composite, { raw: { width, height, channels: 3 } })
        .resize(inputSize.width, inputSize.height, { fit: 'fill', kernel: 'lanczos3' })
        .raw()
        .toBuffer();
      return session.run(rgb);
    },
  };
}
