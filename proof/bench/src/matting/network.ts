import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Rectangle } from '@media-services/bg-removal/dist/images/output.js';
import { withCloseUp } from '@media-services/bg-removal/dist/matte/close-up.js';
import { viewForModel } from '@media-services/bg-removal/dist/matte/model-view.js';
import type { Plane } from '@media-services/bg-removal/dist/matte/plane.js';
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
import { alone, rgbaOf, type Mask } from './pipeline.js';
import type { Shot } from './scenes.js';

/** As the service reads them. */
const settingsSchema = z.object({
  MODEL: z.string().default(defaultModelId),
  MODELS_DIR: z.string().default(defaultModelsDir),
  INFERENCE_PRECISION: z.enum(precisionSettings).default('auto'),
  REFINE_SMALL_SUBJECTS: z.enum(['auto', 'off']).default('auto'),
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
    async mask(shot) {
      const { width, height } = shot;
      const look = async (area: Rectangle): Promise<Plane> => {
        const member = alone();
        const image = { width, height, data: member.place(rgbaOf(shot).data) };
        const rgb = viewForModel(image, area, inputSize.width, inputSize.height, member).slice();
        const seen = await session.run(rgb);
        return { width: seen.width, height: seen.height, data: seen.mask };
      };
      const first = await look({ left: 0, top: 0, width, height });
      const refines = settings.REFINE_SMALL_SUBJECTS === 'auto';
      const seen = refines ? await withCloseUp(first, { width, height }, look) : first;
      return { width: seen.width, height: seen.height, mask: seen.data };
    },
  };
}
