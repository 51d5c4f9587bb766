import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { writeInstalled } from '../installed-file.js';
import type { InstalledModel, Preprocessing, WeightsSource } from '../recipe.js';
import { WeightsError } from '../weights-error.js';

const channels = z.tuple([z.number(), z.number(), z.number()]);
const preprocessorSchema = z.looseObject({
  do_normalize: z.boolean().optional(),
  image_mean: channels.optional(),
  image_std: channels.optional(),
  size: z.looseObject({ width: z.int().optional(), height: z.int().optional() }).optional(),
});

const onnxFileByDtype = { fp32: 'onnx/model.onnx', fp16: 'onnx/model_fp16.onnx' } as const;

/**
 * Fetches a model from the hub with transformers.js into `folder` (at set-up or
 * image build, never during a request). Its SHA-256 is recorded on this first
 * use and checked at every start.
 * @throws WeightsError when the hub cannot be reached or the model is not what it should be
 */
export async function fetchHubModel(
  { inputSize, mean, std }: Preprocessing,
  { repository, dtype }: Extract<WeightsSource, { kind: 'hub' }>,
  folder: string,
  log: (line: string) => void,
): Promise<InstalledModel> {
  const cacheDir = await mkdtemp(path.join(os.tmpdir(), 'hub-model-'));
  try {
    await download(repository, dtype, cacheDir, log);
    const fetched = path.join(cacheDir, repository);
    const names = ['config.json', 'preprocessor_config.json', onnxFileByDtype[dtype]];
    const files: Record<string, string> = {};
    for (const name of names) {
      files[name] = await writeInstalled(folder, name, await readFile(path.join(fetched, name)));
    }
    const config = preprocessorSchema.parse(
      JSON.parse(await readFile(path.join(folder, 'preprocessor_config.json'), 'utf8')),
    );
    return { inputSize, mean, std, ...fromPreprocessor(config), graph: onnxFileByDtype[dtype], files };
  } catch (cause) {
    if (cause instanceof WeightsError) throw cause;
    throw new WeightsError(
      `The model ${repository} could not be fetched from the hub. Check that it can be reached, or set MODEL to another model or to a local folder.`,
      { cause },
    );
  } finally {
    await rm(cacheDir, { recursive: true, force: true });
  }
}

async function download(
  repository: string,
  dtype: 'fp32' | 'fp16',
  cacheDir: string,
  log: (line: string) => void,
): Promise<void> {
  // Loaded here only: the service itself never needs it.
  const { AutoModel, AutoProcessor } = await import('@xenova/transformers');
  const seen = new Set<string>();
  const progress_callback = (event: { status: string; file?: string }): void => {
    if (event.file === undefined || seen.has(event.file)) return;
    seen.add(event.file);
    log(`  ${repository}: ${event.file}`);
  };
  await AutoProcessor.from_pretrained(repository, { cache_dir: cacheDir, progress_callback });
  const model = await AutoModel.from_pretrained(repository, {
    cache_dir: cacheDir,
    dtype,
    progress_callback,
  });
  await model.dispose();
}

function fromPreprocessor(config: z.output<typeof preprocessorSchema>): Partial<Preprocessing> {
  const { width, height } = config.size ?? {};
  return {
    ...(width !== undefined && height !== undefined ? { inputSize: { width, height } } : {}),
    ...(config.do_normalize === false
      ? { mean: [0, 0, 0], std: [1, 1, 1] }
      : {
          ...(config.image_mean ? { mean: config.image_mean } : {}),
          ...(config.image_std ? { std: config.image_std } : {}),
        }),
  };
}
