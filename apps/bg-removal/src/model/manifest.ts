import { readFile } from 'node:fs/promises';
import path from 'node:path';
import parseSpdx from 'spdx-expression-parse';
import { z } from 'zod';

/** The model can't be used. The message tells the operator what is wrong, where, and how to fix it. */
export class ModelError extends Error {
  override readonly name: string = 'ModelError';
}

/** The folder has no model yet; it may still be installed. */
export class ModelMissingError extends ModelError {
  override readonly name = 'ModelMissingError';
}

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits');
/** An SPDX licence expression, or `unstated` if the authors name no licence for the weights. */
const licenceSchema = z.string().refine((licence) => licence === 'unstated' || isSpdxExpression(licence), {
  error: 'must be an SPDX licence expression such as Apache-2.0 or LicenseRef-own, or "unstated"',
});

function isSpdxExpression(text: string): boolean {
  try {
    parseSpdx(text);
    return true;
  } catch {
    return false;
  }
}

const channelsSchema = z.tuple([z.number(), z.number(), z.number()]);

/**
 * Everything needed to run a matting network. Images are resized to `inputSize` without keeping
 * proportions, scaled to 0-1 and normalised as `(value - mean) / std`.
 */
export const manifestSchema = z.object({
  id: z.string().min(1),
  /** The source of the weights, for information only. */
  source: z.object({ kind: z.enum(['npm-package', 'hub', 'folder']) }),
  licence: licenceSchema,
  /** The ONNX file, relative to the model's folder. */
  graph: z.string().min(1),
  /** The same network in eight bits, for CPUs with fast eight-bit multiplication. */
  int8Graph: z.string().min(1).optional(),
  /** SHA-256 of every used file, by path relative to the model's folder. */
  files: z.record(z.string(), sha256Schema),
  inputSize: z.object({
    width: z.int().min(8).max(4096),
    height: z.int().min(8).max(4096),
  }),
  mean: channelsSchema,
  std: channelsSchema.refine((std) => std.every((value) => value > 0), 'must be above 0'),
  /** The function that maps the output to 0-1. */
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
    throw new ModelMissingError(
      `The model folder ${folder} has no readable ${manifestFileName}. Run the set-up (npm run setup; under compose: docker compose up -d model), or point MODEL at a folder that has one. The service loads the model as soon as it exists.`,
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
  for (const graph of [manifest.graph, manifest.int8Graph]) {
    if (graph !== undefined && manifest.files[graph] === undefined) {
      throw new ModelError(`${file} does not list its graph "${graph}" under "files" with a SHA-256.`);
    }
  }
  for (const name of Object.keys(manifest.files)) {
    const resolved = path.resolve(folder, name);
    if (path.isAbsolute(name) || !resolved.startsWith(path.resolve(folder) + path.sep)) {
      throw new ModelError(`${file} lists "${name}", which is outside the model folder.`);
    }
  }
  return manifest;
}
