import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { findSubject, type FoundSubject } from '@media-services/bg-removal/dist/matte/find-subject.js';
import { viewForModel } from '@media-services/bg-removal/dist/matte/model-view.js';
import { createLook } from '@media-services/bg-removal/dist/matte/surroundings.js';
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
import { alone, pictureIn, rgbaOf } from './pipeline.js';
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
  /** What the network says of a shot, and how often it was asked. */
  find(shot: Shot): Promise<{ found: FoundSubject; looks: number }>;
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
    async find(shot) {
      const image = rgbaOf(shot);
      let looks = 0;
      const look = createLook(
        inputSize,
        (area, size) => {
          const member = alone();
          const { seen } = pictureIn(member, shot);
          return viewForModel(seen, area, size.width, size.height, member).slice();
        },
        async (rgb) => {
          looks++;
          const { mask, width, height } = await session.run(rgb);
          return { width, height, data: mask };
        },
      );
      const isOpaque = shot.own?.every((alpha) => alpha === 255) ?? true;
      const found = await findSubject(image, isOpaque, look);
      return { found, looks };
    },
  };
}
