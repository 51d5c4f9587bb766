import { egressSettings } from '@media-services/egress-guard';
import { commonSettings, redisUrlSetting, setting } from '@media-services/http-common';
import { z } from 'zod';
import { deviceSettings, precisionSettings } from './inference/choices.js';
import { defaultModelId, defaultModelsDir } from './model/known-models.js';

/** Every environment variable of the service. */
export const configSchema = z.object({
  ...commonSettings({ port: 3002, metricsPort: 9102 }),
  MODEL: setting
    .text(defaultModelId)
    .describe('Id of the model, or the path of a folder with a model and its manifest.json.'),
  MODELS_DIR: setting
    .text('')
    .describe("Folder of the installed models; empty for the service's models folder."),
  IMAGES_PER_MINUTE: setting
    .integer(5, { min: 0, max: 100_000 })
    .describe('Images per client in any 60 seconds; 0 disables the limit.'),
  REDIS_URL: redisUrlSetting(),
  OPERATOR_CONTACT: setting
    .text('')
    .describe('How to reach the operator of the service; shown to clients that hit the limit.'),
  IMAGE_MAX_BYTES: setting.bytes('15MiB').describe('Largest upload.'),
  IMAGE_URLS: setting
    .boolean(false)
    .describe(
      'Whether clients may send image_url instead of a file; the service then connects to public addresses.',
    ),
  ...egressSettings(),
  IMAGE_MAX_PIXELS: setting
    .integer(50_000_000, { min: 1, max: 250_000_000 })
    .describe('Largest image, width times height; no side may have more than 65535 pixels.'),
  IMAGE_QUEUE_MAX: setting
    .integer(8, { min: 0, max: 1000 })
    .describe(
      'Images that may wait in addition to those being processed; further ones get 503. One client gets at most half of all slots.',
    ),
  IMAGE_TIMEOUT_SECONDS: setting
    .seconds(90, { min: 1, max: 3600 })
    .describe(
      'Time from the first byte of a request to the first byte of its response: upload, waiting and processing. If above 120 s, also the limit for loading the model and for its first run.',
    ),
  INFERENCE_PRECISION: setting
    .oneOf(precisionSettings, 'auto')
    .describe(
      'Which graph of the model to run: int8 is faster and needs less memory; auto uses it on x86-64 with AVX2, and fp32 elsewhere.',
    ),
  INFERENCE_DEVICE: setting
    .oneOf(deviceSettings, 'auto')
    .describe('Device for the model: cuda fails at start without a working GPU; auto then uses the CPU.'),
  INFERENCE_PROCESSES: setting
    .integerOrAuto({ min: 1, max: 64 })
    .describe(
      'Processes that run the model, each with one image at a time; auto: one per four cores, if they fit into half of the memory. They share the cores.',
    ),
});

export type BgRemovalConfig = z.output<typeof configSchema>;

export function modelsDirOf(config: BgRemovalConfig): string {
  return config.MODELS_DIR === '' ? defaultModelsDir : config.MODELS_DIR;
}
